"""The page of the settings: cookies of a device, the event's regulations, what the log keeps."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi import FastAPI, Response
from fastapi.testclient import TestClient

from rag import event as event_module
from rag.event import Event, event_path, read_event, write_event
from rag.log import LogSettings, open_log
from rag.page.settings import Settings, choose, keep_settings, language_of, read_settings
from rag.page.settings_pages import settings_router
from rag.strings import languages, strings
from tests.made import make_book
from tests.test_log import FullDisk
from tests.test_log_pages import FROM_ELSEWHERE, RUSSIAN, flat

DEVICE = {"lang": "ru", "book": "small-2017-en", "model": "off", "size": "huge", "theme": "dark"}


@pytest.fixture
def client(small_book: str) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(settings_router(small_book))
    with TestClient(app, follow_redirects=False) as opened:
        yield opened


# This device


@pytest.mark.parametrize(
    ("cookies", "found"),
    [
        ({}, Settings()),
        ({f"tablelaw_{name}": value for name, value in DEVICE.items()}, Settings(**DEVICE)),  # type: ignore[arg-type]
        ({"tablelaw_lang": "xx", "tablelaw_book": "../../etc", "tablelaw_model": "1", "tablelaw_size": "9em"}, Settings()),
        ({"tablelaw_theme": "<script>", "tablelaw_lang": "ru"}, Settings(lang="ru")),
        ({"tablelaw_lang": "EN", "lang": "ru"}, Settings()),
    ],
)
def test_what_a_device_sends_is_taken_only_where_it_can_be(small_book: str, cookies: dict[str, str], found: Settings) -> None:
    assert read_settings(cookies) == found


def test_only_what_the_script_needs_can_be_read_by_it(small_book: str) -> None:
    response = Response()
    keep_settings(response, Settings(**DEVICE), is_secure=False)  # type: ignore[arg-type]
    sent = {line.split("=")[0]: line for line in response.headers.getlist("set-cookie")}
    assert {name: "HttpOnly" in line for name, line in sent.items()} == {
        "tablelaw_lang": True, "tablelaw_book": True, "tablelaw_model": True, "tablelaw_size": False, "tablelaw_theme": False,
    }  # fmt: skip
    assert all("SameSite=lax" in line and "Secure" not in line for line in sent.values())
    secure = Response()
    keep_settings(secure, Settings(), is_secure=True)
    assert all("Secure" in line for line in secure.headers.getlist("set-cookie"))


def test_what_is_chosen_is_remembered_on_this_device_and_no_other(client: TestClient) -> None:
    assert client.post("/settings/device", data=DEVICE).headers["location"] == "/settings?said=saved"
    page = client.get("/settings?said=saved").text
    assert '<html lang="ru">' in page
    assert strings("ru")["settings_said"] in flat(page)
    for chosen in ('value="off" checked', 'value="huge" checked', 'value="dark" checked', 'value="small-2017-en" selected'):
        assert chosen in page
    client.cookies.clear()
    assert '<html lang="en">' in client.get("/settings").text
    assert '<html lang="ru">' in client.get("/settings", headers=RUSSIAN).text


def test_what_cannot_be_chosen_leaves_the_choice_as_it_was(client: TestClient) -> None:
    client.post("/settings/device", data={**DEVICE, "lang": "en"})
    client.post("/settings/device", data={"lang": "xx", "book": "no-book", "theme": '"; x'})
    page = client.get("/settings").text
    assert '<html lang="en">' in page
    assert 'value="dark" checked' in page
    assert choose(Settings(lang="ru"), {"lang": ""}) == Settings()


def test_a_book_of_commentary_or_one_that_is_gone_cannot_be_chosen(client: TestClient, home: Path) -> None:
    make_book(home, "notes-2017-en", kind="commentary")
    client.post("/settings/device", data={"book": "notes-2017-en"})
    assert "notes-2017-en" not in client.get("/settings").text
    assert read_settings({"tablelaw_book": "gone-2017-en"}).book == ""


class Asking:
    def __init__(self, cookies: dict[str, str], **headers: str) -> None:
        self.cookies, self.headers = cookies, headers


def test_the_language_is_the_chosen_one_else_the_browsers() -> None:
    russian: dict[str, Any] = {"accept-language": "ru-RU"}
    assert language_of(Asking({}, **russian)) == "ru"
    assert language_of(Asking({"tablelaw_lang": "en"}, **russian)) == "en"
    assert language_of(Asking({"tablelaw_lang": "xx"}, **russian)) == "ru"
    assert language_of(Asking({})) == "en"


# The event's regulations

TOLD = {
    "correction_minutes": "20",
    "appeal_minutes": "0",
    "opening_lead": "face-up",
    "alerts": ' all artificial  calls: "as in\r\nthe handbook" # comparable_calls: null ',
    "comparable_calls": "Сравнимая заявка: как у ФСБР",
}


def test_regulations_are_written_between_the_comments_and_read_back(client: TestClient) -> None:
    assert client.post("/settings/event", data=TOLD).status_code == 303
    assert read_event() == Event(
        correction_minutes=20,
        appeal_minutes=0,
        opening_lead="face-up",
        alerts='all artificial calls: "as in the handbook" # comparable_calls: null',
        comparable_calls="Сравнимая заявка: как у ФСБР",
    )
    comments = [line for line in event_module.TEMPLATE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    written = event_path().read_text(encoding="utf-8").splitlines()
    assert [line for line in written if line.startswith("#")] == comments
    page = client.get("/settings").text
    assert 'name="correction_minutes" inputmode="numeric" value="20"' in page
    assert 'value="face-up" selected' in page
    assert client.post("/settings/event", data={}).status_code == 303
    assert read_event() == Event()
    assert event_path().read_text(encoding="utf-8") == event_module.TEMPLATE.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["\x07\x7f\x85\u2028", "- [", "yes", "12", "~", "'", '"', "a: b", "!!python/x", "🃏" * 90])
def test_any_sentence_comes_back_from_the_file(home: Path, text: str) -> None:
    write_event(Event(alerts=text))
    assert read_event().alerts == text


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("correction_minutes", "soon"),
        ("correction_minutes", "-1"),
        ("correction_minutes", "1.5"),
        ("appeal_minutes", "10081"),
        ("appeal_minutes", "9" * 5000),
        ("opening_lead", "sideways"),
        ("alerts", "x" * 301),
        ("comparable_calls", "x" * 301),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_changed_or_lost(client: TestClient, setting: str, value: str) -> None:
    client.post("/settings/event", data={"appeal_minutes": "45"})
    answer = client.post("/settings/event", data={**TOLD, setting: value})
    assert answer.status_code == 422
    assert strings("en")[f"event_bad_{setting}"] in flat(answer.text)
    assert read_event() == Event(appeal_minutes=45)
    for kept in {"face-up" if setting != "opening_lead" else "20", "all artificial"} - (
        {"all artificial"} if setting == "alerts" else set()
    ):
        assert kept in answer.text


@pytest.mark.parametrize("content", [b"a: [", b"appeal_minutes: soon", b"\xff\xff", b"- list"])
def test_a_damaged_file_is_told_and_can_be_replaced(client: TestClient, content: bytes) -> None:
    event_path().parent.mkdir(parents=True, exist_ok=True)
    event_path().write_bytes(content)
    page = client.get("/settings")
    assert page.status_code == 200
    assert "event.yaml" in flat(page.text)
    assert client.post("/settings/event", data={"appeal_minutes": "30"}).status_code == 303
    assert read_event() == Event(appeal_minutes=30)
    assert "event.yaml" not in flat(client.get("/settings").text)


def test_a_file_that_cannot_be_written_is_told_and_leaves_the_old_one(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.post("/settings/event", data={"appeal_minutes": "45"})

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    answer = client.post("/settings/event", data={"appeal_minutes": "50"})
    assert answer.status_code == 503
    assert "cannot be written (No space left on device); free some space" in flat(answer.text)
    assert 'value="50"' in answer.text
    assert read_event() == Event(appeal_minutes=45)
    assert [file.name for file in event_path().parent.iterdir() if "event" in file.name] == ["event.yaml"]


def test_every_setting_of_the_event_is_on_the_page_with_its_meaning(client: TestClient) -> None:
    for lang in languages():
        page = client.get("/settings", headers={"Accept-Language": lang}).text
        for setting in Event.model_fields:
            assert f'name="{setting}"' in page
            assert strings(lang)[f"event_means_{setting}"] in flat(page)
            assert strings(lang)[f"event_bad_{setting}"]


def test_the_template_names_every_setting_once() -> None:
    assert list(yaml.safe_load(event_module.TEMPLATE.read_text(encoding="utf-8"))) == list(Event.model_fields)


def test_half_a_character_is_replaced_in_the_file_and_on_the_page(client: TestClient) -> None:
    assert (
        client.post(
            "/settings/event", content=rb'{"alerts": "a\ud800b"}', headers={"Content-Type": "application/json"}
        ).status_code
        == 303
    )
    assert read_event().alerts == "a?b"
    answer = client.post(
        "/settings/event", content=b'{"alerts": "%s"}' % (rb"\ud800" * 301), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422


# The log


def test_what_the_log_keeps_is_set(client: TestClient) -> None:
    assert client.post("/settings/log", data={"keep_names": "yes", "retention_days": " 30 "}).status_code == 303
    assert open_log().settings() == LogSettings(keep_names=True, retention_days=30)
    page = client.get("/settings").text
    assert 'name="keep_names" value="yes" checked' in page
    assert 'name="retention_days" inputmode="numeric" value="30"' in page
    client.post("/settings/log", data={"retention_days": ""})
    assert open_log().settings() == LogSettings()


@pytest.mark.parametrize("days", ["0", "-5", "many", "1.5", "100000", "٣"])
def test_days_that_cannot_be_are_told_and_nothing_is_changed(client: TestClient, days: str) -> None:
    answer = client.post("/settings/log", data={"keep_names": "yes", "retention_days": days})
    assert answer.status_code == 422
    assert strings("en")["settings_bad_days"] in flat(answer.text)
    assert f'value="{days}"' in answer.text
    assert open_log().settings() == LogSettings()


def test_a_log_that_cannot_be_used_is_told_beside_the_other_settings(client: TestClient, home: Path) -> None:
    (home / "data" / "log.sqlite3").write_bytes(b"no database at all" * 500)
    page = client.get("/settings")
    assert page.status_code == 200
    assert "free some space, or move the file away" in flat(page.text)
    answer = client.post("/settings/log", data={"retention_days": "30"})
    assert answer.status_code == 503


def test_a_full_disk_is_told(small_book: str) -> None:
    path = open_log()._path
    app = FastAPI()
    app.include_router(settings_router(small_book, lambda: FullDisk(path)))
    assert TestClient(app).get("/settings").status_code == 200


@pytest.mark.parametrize("headers", FROM_ELSEWHERE)
def test_a_form_of_another_site_changes_nothing(client: TestClient, headers: dict[str, str]) -> None:
    for path, data in (("device", DEVICE), ("event", TOLD), ("log", {"keep_names": "yes"})):
        answer = client.post(f"/settings/{path}", data=data, headers=headers)
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    assert read_event() == Event()
    assert open_log().settings() == LogSettings()
