"""The guard: which hosts, origins and devices are let in, and how often the PIN may be guessed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from app import make_app
from index.errors import ContractError
from rag.desk import Desk
from rag.page.devices import Devices
from rag.page.guard import TOKEN_COOKIE, Guard
from rag.page.guesses import ALL, EACH, FORGET_SECONDS, Guesses
from rag.page.lan import Lan
from tests.fakes import FakeEmbedder

PIN = "012345"
HERE, PHONE, OTHER = "127.0.0.1", "192.168.7.20", "192.168.7.21"
LAPTOP = "192.168.7.5"
PORT = 7860
SITE = f"http://{LAPTOP}:{PORT}"
PAGE = {"accept": "text/html,application/xhtml+xml"}


class Clock:
    """Time that goes on only when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lan(tmp_path: Path, clock: Clock) -> Lan:
    return open_here(tmp_path, clock)


def open_here(folder: Path, clock: Clock, pin: str = PIN) -> Lan:
    devices = Devices(folder / "devices.json", lambda line: None)
    return Lan(PORT, devices, pin, addresses=lambda: (LAPTOP,), guesses=Guesses(clock))


async def echo_socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("in")
    await socket.close()


async def echo(request: Any) -> PlainTextResponse:
    return PlainTextResponse(" ".join(sorted(request.headers)))


def tiny() -> Starlette:
    """An app behind the guard that shows what comes through."""
    routes = [Route("/{path:path}", echo, methods=["GET", "POST", "OPTIONS"]), WebSocketRoute("/{path:path}", echo_socket)]
    return Starlette(routes=routes)


def client_of(lan: Lan | None, address: str = PHONE, site: str = SITE, app: Any = None) -> TestClient:
    return TestClient(Guard(app or tiny(), lan), base_url=site, client=(address, 50000), follow_redirects=False)


Open = Callable[..., TestClient]


@pytest.fixture
def phone(lan: Lan) -> TestClient:
    return client_of(lan)


def give(client: TestClient, pin: str, **form: str) -> Any:
    return client.post("/pin", data={"pin": pin, **form}, headers={**PAGE, "origin": str(client.base_url).rstrip("/")})


# the PIN over every path


def every_path(app: Any, above: str = "") -> Iterator[tuple[str, str]]:
    for route in app.routes:
        path = above + getattr(route, "path", "")
        if hasattr(route, "original_router"):  # fastapi keeps an included router as it is
            yield from every_path(route.original_router, above)
        elif hasattr(route, "app") and hasattr(route.app, "routes"):
            yield from every_path(route.app, path.rstrip("/"))
        elif hasattr(route, "routes") and route.routes:
            yield from every_path(route, above)
        else:
            for method in sorted(getattr(route, "methods", None) or ["GET", "POST"]):
                yield method, path.replace("{", "").replace("}", "").replace(":path", "") or "/"


@pytest.fixture
def whole(small_book: str, lan: Lan) -> Any:
    desk = Desk(FakeEmbedder(), None)
    return make_app(lambda: desk, small_book, lan)


def test_no_route_of_the_app_is_reached_without_the_pin(whole: Any) -> None:
    paths = set(every_path(whole))
    named = {path for _, path in paths}
    assert {
        "/health",
        "/mcp",
        "/api/ask",
        "/api/openapi.json",
        "/manifest.webmanifest",
        "/icons/name",
        "/law/clause_id",
    } <= named
    assert any(path.startswith("/gradio_api/queue/") for path in named), "Gradio's own are among them"
    assert len(paths) > 60
    client = TestClient(whole, base_url=SITE, client=(PHONE, 50000), follow_redirects=False)
    reached = []
    for method, path in sorted(paths):
        for headers in ({"accept": "*/*"}, PAGE):
            answer = client.request(method, path, headers=headers)
            asked = 'name="pin"' in answer.text or "not known here" in answer.text or method == "HEAD"
            if answer.status_code != 401 or not asked:
                reached.append((method, path, answer.status_code))
    assert reached == []


def test_what_no_route_stands_for_is_not_told_apart(phone: TestClient) -> None:
    assert {phone.get(path).status_code for path in ("/", "/nothing", "/%2e%2e/etc", "//pin", "/PIN", "/pin/", "/join/x")} == {
        401
    }


def test_on_this_machine_no_pin_is_asked(whole: Any) -> None:
    client = TestClient(whole, base_url=f"http://127.0.0.1:{PORT}", client=(HERE, 50000))
    assert client.get("/health").json()["status"] == "ok"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_every_loopback_address_is_this_machine(lan: Lan, address: str) -> None:
    assert client_of(lan, address).get("/").status_code == 200


@pytest.mark.parametrize("address", ["testclient", "", "192.168.7.5", "::ffff:192.168.7.20", "fe80::1", "0.0.0.0"])
def test_no_other_address_is(lan: Lan, address: str) -> None:
    assert client_of(lan, address).get("/").status_code == 401


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "x-forwarded-host", "Forwarded", "X-Real-IP", "Via", "X-Forwarded", "CF-Connecting-IP"]
)
def test_who_asks_for_somebody_else_is_not_this_machine(lan: Lan, header: str) -> None:
    client = client_of(lan, HERE)
    assert client.get("/", headers={header: "127.0.0.1"}).status_code == 401
    assert client.get("/join", headers={header: "127.0.0.1"}).status_code == 403


def test_a_forwarded_header_makes_nobody_this_machine_and_goes_no_further(lan: Lan, phone: TestClient) -> None:
    assert phone.get("/", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 401
    give(phone, PIN)
    assert "x-forwarded" not in phone.get("/", headers={"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}).text


def test_a_caller_from_the_open_internet_is_refused_whatever_it_knows(lan: Lan) -> None:
    token = lan.devices.add()
    answer = client_of(lan, "203.0.114.9").get("/", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 403
    assert "same network" in answer.json()["error"]


# the PIN page, the cookie, the token


def test_the_pin_opens_the_page_that_was_asked_for_and_is_asked_once(phone: TestClient) -> None:
    asked = phone.get("/law/27B1?book=a&x=%22", headers=PAGE)
    assert asked.status_code == 401
    assert 'name="next" value="/law/27B1?book=a&amp;x=%22"' in asked.text
    done = give(phone, " 012-345 ", next="/law/27B1?book=a")
    assert (done.status_code, done.headers["location"]) == (303, "/law/27B1?book=a")
    assert phone.get("/law/27B1").status_code == 200
    assert phone.get("/pin", headers=PAGE).headers["location"] == "/"


def test_the_cookie_is_for_us_alone_and_no_script_reads_it(phone: TestClient) -> None:
    parts = give(phone, PIN).headers["set-cookie"].split("; ")
    name, _, token = parts[0].partition("=")
    assert name == TOKEN_COOKIE
    assert len(token) >= 43, "256 bits"
    assert set(parts[1:]) == {"HttpOnly", "Path=/", "SameSite=strict", "Max-Age=31536000"}


def test_the_token_is_kept_as_a_hash_for_its_owner_only(phone: TestClient, tmp_path: Path) -> None:
    token = give(phone, PIN).cookies[TOKEN_COOKIE]
    kept = tmp_path / "devices.json"
    assert token not in kept.read_text()
    assert len(json.loads(kept.read_text())["devices"]) == 1
    assert kept.stat().st_mode & 0o077 == 0


def test_after_a_restart_with_a_new_pin_a_known_device_is_not_asked(phone: TestClient, tmp_path: Path, clock: Clock) -> None:
    token = give(phone, PIN).cookies[TOKEN_COOKIE]
    again = client_of(open_here(tmp_path, clock, "999999"))
    assert again.get("/").status_code == 401
    assert give(again, PIN).status_code == 401, "the old PIN opens nothing"
    again.cookies.set(TOKEN_COOKIE, token)
    assert again.get("/").status_code == 200


def test_a_second_device_is_asked_again(lan: Lan, phone: TestClient) -> None:
    give(phone, PIN)
    assert client_of(lan, PHONE).get("/").status_code == 401
    assert client_of(lan, OTHER).get("/").status_code == 401


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "/pin", "/a\r\nX: y", "", "x"]
)
def test_the_pin_leads_to_a_page_of_ours_only(phone: TestClient, target: str) -> None:
    assert give(phone, PIN, next=target).headers["location"] == "/"


def test_a_program_trades_the_pin_for_a_token(lan: Lan, phone: TestClient) -> None:
    answer = phone.post("/pin", data={"pin": PIN})
    assert (answer.status_code, list(answer.json())) == (200, ["token"])
    assert "set-cookie" not in answer.headers
    bearer = {"Authorization": f"Bearer {answer.json()['token']}"}
    assert client_of(lan, OTHER).get("/api/books", headers=bearer).status_code == 200
    refused = client_of(lan, OTHER).get("/api/books", headers={"Authorization": "Bearer wrong"})
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="tablelaw"')


@pytest.mark.parametrize("typed", ["", "12345", "0123456", "abcdef", "٠١٢٣٤٥"])
def test_what_is_no_pin_is_told_so_and_is_no_guess(phone: TestClient, typed: str) -> None:
    for _ in range(2 * EACH.free):
        answer = give(phone, typed, next="/law/1")
        assert answer.status_code == 400
    assert "6 digits" in answer.text
    assert 'value="/law/1"' in answer.text
    assert give(phone, PIN).status_code == 303


def test_the_page_speaks_the_language_of_the_browser(phone: TestClient) -> None:
    page = phone.get("/", headers={**PAGE, "accept-language": "ru-RU,ru;q=0.9"})
    assert '<html lang="ru">' in page.text
    assert "PIN-код" in page.text
    assert page.headers["cache-control"] == "no-store"


def test_what_was_asked_for_is_escaped(phone: TestClient) -> None:
    assert "<script>" not in phone.get('/"><script>alert(1)</script>?"><script>', headers=PAGE).text


def test_a_form_that_is_too_long_is_not_read(phone: TestClient) -> None:
    assert give(phone, PIN, more="x" * 10_000).status_code == 400
    assert phone.put("/pin").status_code == 405


# guesses


def test_wrong_pins_wait_longer_and_longer_and_even_the_right_one_waits(phone: TestClient, clock: Clock) -> None:
    waits = []
    for _ in range(EACH.free + 3):
        answer = give(phone, "999999")
        waits.append(int(answer.headers.get("retry-after", 0)))
        clock.now += waits[-1]
    assert waits == [0] * (EACH.free - 1) + [5, 10, 20, 40]
    give(phone, "999999")
    early = give(phone, PIN)
    assert early.status_code == 429
    assert f"try again in {early.headers['retry-after']} s" in early.text
    clock.now += int(early.headers["retry-after"])
    assert give(phone, PIN).status_code == 303


def test_a_neighbour_who_guesses_keeps_nobody_else_out(lan: Lan, phone: TestClient) -> None:
    for _ in range(EACH.free + 1):
        last = give(phone, "999999")
    assert last.status_code == 429
    assert give(client_of(lan, OTHER), PIN).status_code == 303


def test_many_addresses_together_wait_too(lan: Lan, clock: Clock) -> None:
    for k in range(ALL.free):
        give(client_of(lan, f"10.0.0.{k}"), "999999")
    assert give(client_of(lan, OTHER), PIN).status_code == 429
    clock.now += ALL.first
    assert give(client_of(lan, OTHER), PIN).status_code == 303


def test_the_longest_wait_has_an_end_and_wrong_guesses_are_forgotten(clock: Clock) -> None:
    guesses = Guesses(clock)
    for _ in range(100):
        guesses.wrong(PHONE)
    assert guesses.wait(PHONE) == EACH.longest
    assert guesses.wait(OTHER) == ALL.longest
    clock.now += FORGET_SECONDS + 1
    guesses.wrong(PHONE)
    assert guesses.wait(PHONE) == 0


def test_a_right_pin_makes_its_own_wrong_ones_forgotten(clock: Clock) -> None:
    guesses = Guesses(clock)
    for _ in range(EACH.free - 1):
        guesses.wrong(PHONE)
    guesses.right(PHONE)
    guesses.wrong(PHONE)
    assert guesses.wait(PHONE) == 0


def test_a_pin_that_was_not_compared_counts_for_nothing(phone: TestClient, clock: Clock) -> None:
    for _ in range(EACH.free + 10):
        give(phone, "999999")
    clock.now += EACH.first
    assert give(phone, PIN).status_code == 303


# hosts and origins


@pytest.mark.parametrize("lan_is_open", [True, False])
@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "192.168.7.6", "127.0.0.1@evil.example", "", "127.0.0.1:x", "a b", "[::1"],
)
def test_another_host_is_refused_before_all_else(lan: Lan, lan_is_open: bool, host: str) -> None:
    client = client_of(lan if lan_is_open else None, HERE)
    for path in ("/", "/pin", "/join"):
        assert client.get(path, headers={"Host": host}).status_code == 400


def test_our_own_names_are_answered(lan: Lan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Laptop.club.example")
    hosts = (
        "localhost",
        "127.0.0.1:7860",
        LAPTOP,
        f"{LAPTOP}:1",
        "laptop",
        "LAPTOP.local",
        "laptop.club.example",
        "laptop.local.",
    )
    assert {host: client_of(lan, HERE).get("/", headers={"Host": host}).status_code for host in hosts} == dict.fromkeys(
        hosts, 200
    )


def test_without_the_network_its_names_are_foreign() -> None:
    assert client_of(None, HERE).get("/", headers={"Host": LAPTOP}).status_code == 400
    assert client_of(None, HERE, "http://localhost:7860").get("/").status_code == 200


def test_two_hosts_or_none_are_refused(lan: Lan) -> None:
    client = client_of(lan, HERE)
    assert client.get("/", headers=[("Host", LAPTOP), ("Host", "evil.example")]).status_code == 400


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "GET"])
@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        f"https://{LAPTOP}:{PORT}",
        f"http://{LAPTOP}:1",
        f"http://{LAPTOP}",
        "file://",
        "",
        LAPTOP,
    ],
)
def test_what_a_page_of_another_site_sends_is_refused(lan: Lan, method: str, origin: str) -> None:
    for address in (HERE, PHONE):
        client = client_of(lan, address)
        client.cookies.set(TOKEN_COOKIE, lan.devices.add())
        answer = client.request(method, "/api/ask", headers={"Origin": origin})
        assert (answer.status_code, "another site" in answer.json()["error"]) == (403, True)


@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)])
def test_a_browser_that_names_no_origin_names_the_kind_of_site(lan: Lan, site: str, status: int) -> None:
    client = client_of(lan, HERE)
    assert client.post("/x", headers={"Sec-Fetch-Site": site}).status_code == status
    assert client.get("/x", headers={"Sec-Fetch-Site": site}).status_code == 200, "a link may lead here"


def test_our_own_page_and_programs_may_send(lan: Lan) -> None:
    client = client_of(lan, HERE)
    assert client.post("/x", headers={"Origin": SITE.upper().replace("HTTP", "http")}).status_code == 200
    assert client.post("/x").status_code == 200


def test_a_foreign_page_cannot_guess_the_pin(phone: TestClient) -> None:
    answer = phone.post("/pin", data={"pin": PIN}, headers={"Origin": "http://evil.example"})
    assert answer.status_code == 403


# websockets


@pytest.mark.parametrize(
    ("address", "headers", "gets_in"),
    [
        (HERE, {"origin": SITE}, True),
        (HERE, {}, True),
        (HERE, {"origin": "http://evil.example"}, False),
        (HERE, {"origin": SITE, "x-forwarded-for": PHONE}, False),
        (HERE, {"host": "evil.example"}, False),
        (PHONE, {"origin": SITE}, False),
    ],
)
@pytest.mark.parametrize("path", ["/queue", "/pin", "/join"])
def test_a_websocket_is_guarded_the_same(lan: Lan, address: str, headers: dict[str, str], gets_in: bool, path: str) -> None:
    client, url = client_of(lan, address), f"{SITE.replace('http', 'ws')}{path}"
    if gets_in:
        with client.websocket_connect(url, headers=headers) as socket:
            assert socket.receive_text() == "in"
    else:
        with pytest.raises(WebSocketDisconnect) as refused, client.websocket_connect(url, headers=headers):
            pass
        assert refused.value.code == 1008


def test_a_known_device_opens_a_websocket(lan: Lan) -> None:
    bearer = {"authorization": f"bearer {lan.devices.add()}", "origin": SITE}
    with client_of(lan).websocket_connect(f"{SITE.replace('http', 'ws')}/queue", headers=bearer) as socket:
        assert socket.receive_text() == "in"


# joining


def test_join_shows_codes_and_pin_on_this_machine_only(lan: Lan, phone: TestClient) -> None:
    page = client_of(lan, HERE).get("/join", headers=PAGE)
    assert "012 345" in page.text
    assert f"{SITE}/" in page.text
    assert page.text.count("<svg") == 1
    give(phone, PIN)
    refused = phone.get("/join", headers=PAGE)
    assert refused.status_code == 403
    assert "012" not in refused.text


def test_join_says_so_when_there_is_no_network(lan: Lan, tmp_path: Path) -> None:
    nowhere = Lan(PORT, lan.devices, PIN, addresses=tuple)
    assert (
        "no address in a private network" in client_of(nowhere, HERE).get("/join", headers={**PAGE, "host": "localhost"}).text
    )
    closed = client_of(None, HERE, "http://localhost:7860").get("/join", headers=PAGE)
    assert (closed.status_code, "tablelaw serve --lan" in closed.text) == (404, True)


def test_the_guards_own_pages_run_no_script_and_stand_in_no_frame(phone: TestClient) -> None:
    policy = phone.get("/", headers=PAGE).headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


# devices


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 1}', '{"version": 1, "devices": {"a": 3}}', '{"version": 9}', "\x00"]
)
def test_a_damaged_file_of_devices_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "devices.json"
    path.write_text(content)
    with pytest.raises(ContractError, match=r"devices\.json .*delete it"):
        Devices(path, lambda line: None)


def test_a_device_is_forgotten_after_a_year(tmp_path: Path) -> None:
    path, said = tmp_path / "devices.json", list[str]()
    token = Devices(path, said.append).add()
    kept = json.loads(path.read_text())
    kept["devices"] = dict.fromkeys(kept["devices"], "2020-01-01")
    path.write_text(json.dumps(kept))
    assert not Devices(path, said.append).knows(token)


def test_a_device_is_let_in_even_where_nothing_can_be_written(tmp_path: Path) -> None:
    said = list[str]()
    (tmp_path / ".devices.json.new").mkdir()
    devices = Devices(tmp_path / "devices.json", said.append)
    assert devices.knows(devices.add())
    assert "cannot be written" in said[0]
