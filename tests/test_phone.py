"""The phone's routes: tiles, recent cases, places, promises; each for the device that asks, and for no other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from index.books import DEFAULT_BOOK
from rag import running as running_module
from rag.cases import Cases
from rag.desk import Desk
from rag.log import open_log
from rag.log_entry import Place
from rag.page.phone import PLACE_CHARS, _book_in_force, phone_router
from rag.page.promises import promises_of
from rag.page.render import case_html, version_of
from rag.ruling import Sentence, to_page_json
from rag.running import Running
from rag.strings import strings
from tests.fakes import FakeEmbedder
from tests.made import ACCEPT, make_ruling
from tests.test_running import wait_until_ended

COOKIE = "device"
SECONDS = 60.0
EVIL = "<script>alert(1)</script>"


@pytest.fixture
def cases(tmp_path: Path) -> Cases:
    return Cases(tmp_path / "cases.sqlite3")


@pytest.fixture
def served(home: Path, cases: Cases, small_book: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TestClient]]:
    """Opens a client for a device: ``served("phone")``."""
    monkeypatch.setattr(running_module, "WATCH_SECONDS", 0.05)
    desk = Desk(FakeEmbedder(), None)
    app = FastAPI()
    app.include_router(phone_router(Running(lambda: desk, cases), small_book, COOKIE))
    yield lambda device="phone": TestClient(app, cookies={COOKIE: device} if device else {})
    wait_until_ended()


def begun(cases: Cases, device: str = "phone", question: str = "West bid too low", **changes: Any) -> str:
    """A case with one whole answer; gives its id."""
    ruling = json.loads(json.dumps(to_page_json(make_ruling(**changes))))
    cases.save_turn(cases.add_turn(device, question, continues=False), ruling, "", done=True)
    case = cases.shown(device)
    assert case is not None
    return case.id


def later(*texts: str) -> tuple[Sentence, ...]:
    return (Sentence(ACCEPT, ("27A1",)), *(Sentence(text, ("27A1",), "later") for text in texts))


def procedure(name: str) -> dict[str, Any]:
    return {"id": name, "facts": {}, "path": []}


# Tiles


def test_a_tile_starts_a_case_with_its_irregularity_given(served: Callable[..., TestClient], cases: Cases) -> None:
    begun(cases)
    answer = served().post("/cases/tile?lang=ru", json={"irregularity": "insufficient-bid"})
    assert (answer.status_code, answer.content) == (204, b"")
    wait_until_ended()
    case = cases.shown("phone")
    assert case is not None
    (turn,) = case.turns
    assert turn.question == "Недостаточное назначение"
    assert turn.ruling is not None
    assert (turn.ruling["procedure"]["id"], turn.ruling["status"], turn.ruling["lang"]) == ("insufficient-bid", "ask", "ru")
    assert len(cases.recent("phone")) == 2


@pytest.mark.parametrize("irregularity", ["spectator", "none", "", EVIL])
def test_what_is_no_tile_starts_nothing(served: Callable[..., TestClient], cases: Cases, irregularity: str) -> None:
    answer = served().post("/cases/tile", json={"irregularity": irregularity})
    assert (answer.status_code, answer.json()) == (404, {"error": strings("en")["phone_no_tile"]})
    assert cases.shown("phone") is None


# Recent cases


def test_the_list_has_each_case_with_its_place_words_status_and_time(served: Callable[..., TestClient], cases: Cases) -> None:
    first = begun(cases, question=f"{EVIL} {'long ' * 40}")
    cases.set_place("phone", first, Place("7", "12"))
    cases.add_turn("phone", "Still under way", continues=False)
    begun(cases, "laptop", "not the phone's")
    html = served().get("/cases/lists").text
    assert "Table 7, board 12" in html
    assert "&lt;script&gt;alert(1)" in html
    assert "<script" not in html
    assert "long …" in html
    assert html.count('class="tl-case-line"') == 2
    assert html.index("Still under way") < html.index("alert(1)"), "the newest first"
    assert html.count('aria-current="true"') == 1
    assert strings("en")["phone_answering"] in html
    assert strings("en")["status_ruling"] in html
    stamp = html.split('datetime="')[1].split('"')[0]
    assert abs((datetime.now(timezone.utc) - datetime.fromisoformat(stamp)).total_seconds()) < SECONDS
    assert "not the phone" not in html


def test_the_list_of_an_answer_that_failed_says_so(served: Callable[..., TestClient], cases: Cases) -> None:
    cases.save_turn(cases.add_turn("phone", "What?", continues=False), None, "no book", done=True)
    assert "Ответа нет" in served().get("/cases/lists?lang=ru").text


def test_a_device_with_no_case_is_told_what_to_do_in_its_language(served: Callable[..., TestClient]) -> None:
    russian = served().get("/cases/lists", headers={"Accept-Language": "ru-RU"}).text
    assert strings("ru")["phone_no_cases"] in russian
    assert strings("ru")["phone_no_promises"] in russian
    assert strings("en")["phone_no_cases"] in served().get("/cases/lists?lang=xx").text


def test_a_case_is_shown_again(served: Callable[..., TestClient], cases: Cases) -> None:
    first = begun(cases)
    begun(cases)
    assert served().post("/cases/show", json={"case": first}).status_code == 204
    shown = cases.shown("phone")
    assert shown is not None
    assert shown.id == first


# Places


def test_the_place_is_kept_with_the_case_and_in_the_log(served: Callable[..., TestClient], cases: Cases) -> None:
    served().post("/cases/tile", json={"irregularity": "claim"})
    wait_until_ended()
    case = cases.shown("phone")
    assert case is not None
    answer = served().post("/cases/place", json={"case": case.id, "table": "  7   А ", "board": "12"})
    assert answer.status_code == 204
    assert cases.place_of(case.id) == Place("7 А", "12")
    (entry,) = open_log().find()
    assert (entry.table, entry.board) == ("7 А", "12")


def test_a_place_that_is_too_long_is_told_and_changes_nothing(served: Callable[..., TestClient], cases: Cases) -> None:
    case = begun(cases)
    answer = served().post("/cases/place", json={"case": case, "table": "7" * (PLACE_CHARS + 1), "board": ""})
    assert answer.status_code == 422
    assert answer.json() == {"error": strings("en")["phone_place_long"].format(limit=PLACE_CHARS)}
    assert cases.place_of(case) == Place()


def test_a_log_that_cannot_be_written_is_told(served: Callable[..., TestClient], cases: Cases, home: Path) -> None:
    case = begun(cases)
    (home / "data" / "log.sqlite3").mkdir(parents=True)
    answer = served().post("/cases/place", json={"case": case, "table": "7", "board": ""})
    assert answer.status_code == 500
    assert "log" in answer.json()["error"]


# Promises


def test_promises_are_listed_with_their_table_counted_and_ticked(served: Callable[..., TestClient], cases: Cases) -> None:
    case = begun(cases, sentences=later("Come back at the end of play.", f"Poll five peers {EVIL}."))
    cases.set_place("phone", case, Place("7", ""))
    begun(cases, "laptop", sentences=later("not the phone's"))
    html = served().get("/cases/lists").text
    assert 'tl-due">2<' in html
    assert html.count('type="checkbox"') == 2
    assert "<b>Table 7</b>" in html
    assert "<script" not in html
    assert "not the phone" not in html
    tick = {"case": case, "text": "Come back at the end of play.", "kept": True}
    assert served().post("/cases/kept", json=tick).status_code == 204
    html = served().get("/cases/lists").text
    assert 'tl-due">1<' in html
    assert html.count(" checked") == 1
    assert html.index("Poll five") < html.index("Come back at the end"), "what is done stands last"
    assert served().post("/cases/kept", json={**tick, "kept": False}).status_code == 204
    assert 'tl-due">2<' in served().get("/cases/lists").text


def test_what_was_never_promised_cannot_be_ticked(served: Callable[..., TestClient], cases: Cases) -> None:
    case = begun(cases, sentences=later("Come back."))
    assert served().post("/cases/kept", json={"case": case, "text": "other", "kept": True}).status_code == 404
    assert served("laptop").post("/cases/kept", json={"case": case, "text": "Come back.", "kept": True}).status_code == 404


def test_a_ruling_anew_takes_the_place_of_what_was_promised_before(cases: Cases) -> None:
    case_id = begun(cases, sentences=later("Old."), procedure=procedure("claim"))
    for name, text in (("claim", "New."), ("revoke-established", "Also.")):
        ruling = json.loads(json.dumps(to_page_json(make_ruling(sentences=later(text), procedure=procedure(name)))))
        cases.save_turn(cases.add_turn("phone", "more", continues=True), ruling, "", done=True)
    assert [(one.case, one.text) for one in promises_of(cases, "phone")] == [(case_id, "New."), (case_id, "Also.")]


def test_a_ruling_that_follows_promises_too_and_one_that_grows_does_not_yet(cases: Cases) -> None:
    begun(cases, then=(make_ruling(sentences=later("From the second."), procedure=procedure("claim")),))
    ruling = json.loads(json.dumps(to_page_json(make_ruling(sentences=later("Not yet.")))))
    cases.save_turn(cases.add_turn("phone", "grows", continues=False), ruling, "", done=False)
    assert [one.text for one in promises_of(cases, "phone")] == ["From the second."]


def test_promises_of_yesterday_are_no_longer_listed(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(cases, sentences=later("Come back."))
    assert len(promises_of(cases, "phone")) == 1
    monkeypatch.setattr("rag.page.promises.OPEN_FOR", timedelta(minutes=-1))
    assert promises_of(cases, "phone") == ()


# What every route does alike


ROUTES = {
    "tile": {"irregularity": "claim"},
    "show": {"case": "CASE"},
    "place": {"case": "CASE", "table": "7", "board": ""},
    "kept": {"case": "CASE", "text": "Come back.", "kept": True},
}


@pytest.mark.parametrize("route", ["show", "place", "kept"])
def test_the_case_of_another_device_is_none(served: Callable[..., TestClient], cases: Cases, route: str) -> None:
    case = begun(cases, "laptop", sentences=later("Come back."))
    answer = served("phone").post(f"/cases/{route}", json={**ROUTES[route], "case": case})
    assert (answer.status_code, answer.json()) == (404, {"error": strings("en")["phone_no_case"]})
    other = cases.shown("laptop")
    assert other is not None
    assert (other.place, other.kept, cases.shown("phone")) == (Place(), frozenset(), None)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("body", [b"", b"not json", b"[]", b"{}", b'{"case": 1, "text": 2, "irregularity": null}', b"\xff"])
def test_a_body_that_is_none_is_told_in_one_sentence(served: Callable[..., TestClient], route: str, body: bytes) -> None:
    answer = served().post(f"/cases/{route}?lang=ru", content=body)
    assert (answer.status_code, answer.json()) == (422, {"error": strings("ru")["phone_not_understood"]})


@pytest.mark.parametrize("route", ROUTES)
def test_without_a_cookie_nothing_is_done(served: Callable[..., TestClient], cases: Cases, route: str) -> None:
    answer = served("").post(f"/cases/{route}", json=ROUTES[route])
    assert (answer.status_code, answer.json()) == (403, {"error": strings("en")["phone_no_device"]})
    assert cases.recent("") == ()


def test_the_page_learns_whether_what_it_shows_is_current(served: Callable[..., TestClient], cases: Cases) -> None:
    client = served()
    empty = client.get("/cases/now")
    assert empty.json() == {"version": version_of(None)}
    assert empty.headers["cache-control"] == "no-store"
    begun(cases)
    now = client.get("/cases/now").json()["version"]
    assert now != version_of(None)
    assert f'data-version="{now}"' in case_html(cases.shown("phone"), "en"), "the page carries the same"
    assert client.get("/cases/now").json()["version"] == now
    cases.add_turn("phone", "more", continues=True)
    assert client.get("/cases/now").json()["version"] != now
    assert served("laptop").get("/cases/now").json() == empty.json()


def test_the_book_of_a_tile_is_one_that_the_procedures_rule_by(small_book: str) -> None:
    assert _book_in_force(small_book) == small_book
    assert _book_in_force(DEFAULT_BOOK) == DEFAULT_BOOK
