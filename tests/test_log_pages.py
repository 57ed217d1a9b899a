"""The pages of the ruling log, over a log in a file and without the models."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from rag.log import Log, LogSettings, open_log
from rag.log_entry import Correction, Entry, Place
from rag.page import log_pages
from rag.page.log_pages import log_router
from rag.page.log_view import PAGE
from rag.ruling import to_json
from rag.strings import languages, strings
from tests.made import ACCEPT, make_ruling
from tests.test_log import FullDisk, at_times, put, ruling

EVIL = "<script>alert(1)</script>\"'>"
RUSSIAN = {"Accept-Language": "ru-RU,ru;q=0.9"}


def app_over(log: Any) -> FastAPI:
    app = FastAPI()
    app.include_router(log_router(lambda case: bool(open_log().delete(case)), log))
    return app


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(app_over(open_log), follow_redirects=False) as opened:
        yield opened


@pytest.fixture
def log(home: Path) -> Log:
    """Two cases; the first has two questions, a table, a note and feedback."""
    made = open_log()
    put(made, question="West bid too low")
    put(made, turn=2, question="and North had passed?", status="judgement")
    made.correct("c1", 1, Correction(table="5", board="12", note="Both pairs heard.", verdict="wrong", why="27B1"))
    put(made, "c2", question="Восток сделал фальшренонс", lang="ru")
    return made


def flat(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html.rsplit("</script>", maxsplit=1)[-1]).split())


def listed(client: TestClient, address: str) -> list[str]:
    """The questions on a page of the list."""
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return re.findall(r'<td class="tl-asked"><a [^>]*>([^<]*)</a>', answer.text)


# The list


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Восток сделал фальшренонс", "West bid too low", "and North had passed?"]),
        ("?text=fail", []),
        ("?text=heard", ["West bid too low"]),
        ("?text=ФАЛЬШ", ["Восток сделал фальшренонс"]),
        ("?table=5", ["West bid too low"]),
        ("?table=+5+&board=12", ["West bid too low"]),
        ("?board=13", []),
        ("?status=judgement", ["and North had passed?"]),
        ("?status=nonsense&page=x", ["Восток сделал фальшренонс", "West bid too low", "and North had passed?"]),
        ("?page=99999999999999999999", ["Восток сделал фальшренонс", "West bid too low", "and North had passed?"]),
        ("?page=2", []),
    ],
)
def test_rulings_are_listed_newest_first_and_filtered(client: TestClient, query: str, found: list[str]) -> None:
    assert listed(client, f"/log{query}") == found


def test_days_are_whole_days_of_this_machines_clock(client: TestClient, log: Log) -> None:
    today = datetime.now().astimezone().date()
    yesterday, tomorrow = today - timedelta(days=1), today + timedelta(days=1)
    assert len(listed(client, f"/log?since={today}&until={today}")) == 3
    assert listed(client, f"/log?until={yesterday}") == []
    assert listed(client, f"/log?since={tomorrow}") == []


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("day", ["31.12.2026", "2026-02-30", "0001-01-01", "9999-12-31", EVIL])
def test_what_is_no_day_is_told_and_the_form_stays_as_it_was_filled_in(client: TestClient, day: str) -> None:
    answer = client.get("/log", params={"until": day, "text": "bid", "table": "5"})
    if answer.status_code == 200:  # the first day of all, where the clock knows it
        assert day == "0001-01-01"
        return
    assert answer.status_code == 422
    assert "is not a date: choose one, or leave the field empty." in flat(answer.text)
    assert 'name="text" value="bid"' in answer.text
    assert 'name="table" value="5"' in answer.text
    assert "<script>alert" not in answer.text


def test_a_page_has_fifty_and_leads_to_the_next_with_the_same_filter(client: TestClient, home: Path) -> None:
    start = datetime(2026, 5, 1, tzinfo=timezone.utc)
    at_times(open_log(), *(start + timedelta(minutes=k) for k in range(PAGE + 3)), table="7")
    first = client.get("/log?table=7&since=2020-01-01")
    assert len(listed(client, "/log?table=7&since=2020-01-01")) == PAGE
    (following,) = re.findall(r'rel="next" href="([^"]*)"', first.text)
    assert 'rel="prev"' not in first.text
    assert listed(client, following.replace("&amp;", "&")) == ["question 2", "question 1", "question 0"]
    second = client.get(following.replace("&amp;", "&")).text
    assert 'rel="next"' not in second
    assert 'rel="prev"' in second


def test_an_empty_log_says_so_in_the_language_of_the_device(client: TestClient) -> None:
    assert strings("en")["log_none"] in flat(client.get("/log").text)
    page = client.get("/log", headers=RUSSIAN).text
    assert '<html lang="ru">' in page
    assert strings("ru")["log_none"] in flat(page)


# A case


@pytest.mark.usefixtures("log")
def test_a_case_shows_its_questions_rulings_notes_and_revisions(client: TestClient) -> None:
    page = client.get("/log/c1").text
    told = flat(page)
    for part in ("West bid too low", "and North had passed?", ACCEPT, "How it came about (2)", "Note: Both pairs heard."):
        assert part in told, part
    assert 'href="/law/27A1?book=small-2017-en"' in page
    assert 'value="5"' in page
    assert ">Both pairs heard.</textarea>" in page
    assert 'name="verdict" value="wrong" checked' in page


def test_a_case_that_is_not_there_is_a_sentence_and_404(client: TestClient) -> None:
    for path in ("c9", "c9/appeal", "c9/delete"):
        answer = client.get(f"/log/{path}")
        assert answer.status_code == 404
        assert "The log does not have this case" in flat(answer.text)
    for address in ("/log.jsonl?case=c9", "/log-gold.jsonl?case=c9"):
        assert client.get(address).status_code == 404
    for path in ("c9/delete", "c9/correct"):
        assert client.post(f"/log/{path}", data={"note": "n", "turn": "1"}).status_code == 404
    told = client.post("/log/c9/feedback", json={"turn": 1, "verdict": "right"}, headers=RUSSIAN)
    assert (told.status_code, told.json()) == (404, {"error": strings("ru")["log_unknown"]})


@pytest.mark.parametrize("case", ["a/b", "export", "ы?x=1", "50%", EVIL])
def test_a_case_may_be_called_anything(client: TestClient, home: Path, case: str) -> None:
    put(open_log(), case, question=f"story of {EVIL}")
    (address,) = re.findall(r'class="tl-asked"><a href="([^"#]*)#', client.get("/log").text)
    page = client.get(address)
    assert page.status_code == 200
    assert client.get(f"{address}/appeal").status_code == client.get(f"{address}/delete").status_code == 200
    assert client.post(f"{address}/correct", data={"turn": "1", "note": "n"}).status_code == 303
    assert open_log().case(case)[-1].note == "n"
    assert "<script>alert" not in page.text


def test_everything_typed_is_escaped(client: TestClient, home: Path) -> None:
    log = open_log()
    log.set_settings(LogSettings(keep_names=True))
    put(log, question=EVIL, answer=EVIL)
    log.correct(
        "c1", 1, Correction(table=EVIL[:30], board=EVIL[:30], note=EVIL, verdict="wrong", why=EVIL, players={"N": EVIL})
    )
    for address in ("/log", f"/log?text={quote(EVIL)}", "/log/c1", "/log/c1/appeal", "/log/c1/delete"):
        assert "<script>alert" not in client.get(address).text, address


# Corrections and feedback


def test_table_and_board_are_set_for_all_questions_of_the_case_as_revisions(client: TestClient, log: Log) -> None:
    answer = client.post("/log/c1/correct", data={"table": "7", "board": "3"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/log/c1?said=saved")
    entries = log.case("c1")
    assert [(e.turn, e.revision, e.table, e.note) for e in entries] == [
        (1, 1, "", ""), (1, 2, "5", "Both pairs heard."), (1, 3, "7", "Both pairs heard."), (2, 1, "", ""), (2, 2, "7", ""),
    ]  # fmt: skip
    assert "Saved." in flat(client.get(answer.headers["location"]).text)
    client.post("/log/c1/correct", data={"table": "7", "board": "3"})
    assert len(log.case("c1")) == 5, "what changes nothing writes nothing"


def test_a_note_is_a_revision_of_its_question(client: TestClient, log: Log) -> None:
    answer = client.post("/log/c1/correct", data={"turn": "2", "note": "South agrees.\nSo does North."})
    assert answer.headers["location"] == "/log/c1?said=saved#turn-2"
    assert [(e.turn, e.revision, e.note) for e in log.case("c1")][-1] == (2, 2, "South agrees.\nSo does North.")


def test_names_are_asked_and_kept_only_where_the_setting_says_so(client: TestClient, log: Log) -> None:
    assert 'name="player_N"' not in client.get("/log/c2").text
    client.post("/log/c2/correct", data={"player_N": "Ann"})
    assert log.case("c2")[-1].players == {}
    log.set_settings(LogSettings(keep_names=True))
    assert 'name="player_N"' in client.get("/log/c2").text
    client.post("/log/c2/correct", data={"player_N": "Ann", "player_E": " "})
    assert log.case("c2")[-1].players == {"N": "Ann"}
    client.post("/log/c2/correct", data={"player_N": ""})
    assert log.case("c2")[-1].players == {}


def test_feedback_comes_as_a_form_or_as_json(client: TestClient, log: Log) -> None:
    assert client.post("/log/c2/feedback", data={"turn": "1", "verdict": "right", "why": ""}).status_code == 303
    assert log.case("c2")[-1].verdict == "right"
    answer = client.post("/log/c2/feedback", json={"turn": 1, "verdict": "wrong", "why": "it is 64A1"})
    assert answer.json() == {
        "case": "c2",
        "turns": [{"turn": 1, "revision": 3, "table": "", "board": "", "note": "", "verdict": "wrong", "why": "it is 64A1"}],
    }
    assert client.post("/log/c2/feedback", json={"turn": 1, "verdict": "", "why": "left over"}).status_code == 200
    assert (log.case("c2")[-1].verdict, log.case("c2")[-1].why) == ("", "")


@pytest.mark.parametrize(
    ("path", "sent", "status", "told"),
    [
        ("feedback", {"turn": 1, "verdict": "maybe"}, 422, "The feedback can be right, wrong or empty"),
        ("feedback", {"verdict": "right"}, 404, "The log does not have this case"),
        ("feedback", {"turn": 9, "verdict": "right"}, 404, "The log does not have this case"),
        ("feedback", {"turn": "1; drop", "verdict": "right"}, 404, "The log does not have this case"),
        ("feedback", {"turn": 10**30, "verdict": "right"}, 404, "The log does not have this case"),
        ("feedback", {"turn": 1, "verdict": "wrong", "why": "x" * 2001}, 422, "A field has 2001 characters, the limit is 2000"),
        ("correct", {"turn": 1, "note": "x" * 4001}, 422, "A field has 4001 characters, the limit is 4000"),
        ("correct", {"table": "x" * 41}, 422, "A field has 41 characters, the limit is 40"),
        ("correct", ["turn"], 400, "What was sent cannot be read"),
        ("correct", {"note": "x" * 100_001}, 413, "larger than 0.1 MB"),
    ],
)
def test_what_cannot_be_taken_is_one_sentence_and_changes_nothing(
    client: TestClient, log: Log, path: str, sent: Any, status: int, told: str
) -> None:
    before = list(log.entries())
    answer = client.post(f"/log/c1/{path}", json=sent)
    assert (answer.status_code, told in answer.json()["error"]) == (status, True), answer.text
    assert list(log.entries()) == before


def test_a_form_that_is_refused_keeps_what_was_typed(client: TestClient, log: Log) -> None:
    answer = client.post("/log/c1/correct", data={"turn": "2", "note": "y" * 4001})
    assert answer.status_code == 422
    assert "the limit is 4000" in flat(answer.text)
    assert "y" * 4001 in answer.text
    assert ">Both pairs heard.</textarea>" in answer.text, "the note of the other question stands as it is"


def test_no_json_that_is_broken_is_taken(client: TestClient, log: Log) -> None:
    for body in (b"{", b"\xff", b"[" * 50_000, b'{"turn": 1', b"null"):
        answer = client.post("/log/c1/feedback", content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, list(answer.json())) == (400, ["error"]), body[:20]


# Other sites


FROM_ELSEWHERE = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://testserver:81"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://testserver"},
]


@pytest.mark.parametrize("headers", FROM_ELSEWHERE)
def test_a_form_of_another_site_changes_nothing(client: TestClient, log: Log, headers: dict[str, str]) -> None:
    before = list(log.entries())
    export = {"file": ("log.jsonl", client.get("/log.jsonl?case=c2").content)}
    for answer in (
        client.post("/log/c1/delete", headers=headers),
        client.post("/log/c1/correct", data={"note": "n"}, headers=headers),
        client.post("/log/c1/feedback", data={"turn": "1", "verdict": "right"}, headers=headers),
        client.post("/log-import", files=export, headers=headers),
    ):
        assert answer.status_code == 403
        assert "Another site sent this form, so nothing was changed" in flat(answer.text)
    assert list(log.entries()) == before


def test_a_form_of_ones_own_is_taken(client: TestClient, log: Log) -> None:
    headers = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/log/c1/correct", data={"turn": "1", "note": "n"}, headers=headers).status_code == 303
    assert client.post("/log/c1/delete", headers=headers).status_code == 303


# Deleting


def test_a_case_is_deleted_after_it_was_asked(client: TestClient, log: Log) -> None:
    asked = flat(client.get("/log/c1/delete").text)
    assert "with all its revisions (3)" in asked
    assert "West bid too low" in asked
    assert len(log.case("c1")) == 3, "asking deletes nothing"
    answer = client.post("/log/c1/delete")
    assert answer.headers["location"] == "/log?said=deleted"
    assert "deleted for good" in flat(client.get(answer.headers["location"]).text)
    assert {entry.case for entry in log.entries()} == {"c2"}


# Files


def test_what_is_exported_deleted_and_imported_is_the_same(client: TestClient, log: Log) -> None:
    before = list(log.entries())
    export = client.get("/log.jsonl")
    assert export.headers["content-disposition"] == "attachment; filename*=UTF-8''tablelaw-log.jsonl"
    for case in ("c1", "c2"):
        client.post(f"/log/{case}/delete")
    assert list(log.entries()) == []
    answer = client.post("/log-import", files={"file": ("my log.jsonl", export.content)})
    assert answer.headers["location"] == f"/log?said=imported&count={len(before)}"
    assert f"new entries: {len(before)}" in flat(client.get(answer.headers["location"]).text)
    assert list(log.entries()) == before
    again = client.post("/log-import", files={"file": ("my log.jsonl", export.content)})
    assert again.headers["location"] == "/log?said=imported&count=0"


@pytest.mark.usefixtures("log")
def test_one_case_is_exported_alone(client: TestClient) -> None:
    lines = client.get("/log.jsonl?case=c1").text.splitlines()
    assert [json.loads(line)["case"] for line in lines] == ["c1"] * 3
    table = client.get("/log.csv?case=c2")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(table.text.lstrip("\ufeff")))
    assert row["question"] == "Восток сделал фальшренонс"
    assert len(list(csv.DictReader(io.StringIO(client.get("/log.csv").text.lstrip("\ufeff"))))) == 4


def test_feedback_is_exported_as_gold_without_names_and_tables(client: TestClient, log: Log) -> None:
    log.set_settings(LogSettings(keep_names=True))
    story = "Table 5: Ann Example led out of turn at table 5"
    put(log, "c3", question=story)
    client.post("/log/c3/correct", data={"table": "5", "player_N": "Ann Example"})
    client.post("/log/c3/feedback", json={"turn": 1, "verdict": "wrong", "why": "Ann Example at table 5: it is 27B1"})
    (line,) = client.get("/log-gold.jsonl?case=c3").text.splitlines()
    assert "Ann" not in line
    assert "5" not in json.loads(line)["question"] + json.loads(line)["why"]
    assert json.loads(line)["must_cite"] == [["27B1"]]
    assert len(client.get("/log-gold.jsonl").text.splitlines()) == 2
    assert client.get("/log-gold.jsonl?case=c2").text == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (lambda good: good + b"{", ":4: this is no JSON"),
        (lambda good: good.replace(b'"revision": 2', b'"revision": 0'), ":2: revision: "),
        (lambda good: good + b"\xff\xfe\n", "cannot be read (UnicodeDecodeError)"),
        (lambda good: b"PK\x03\x04 a zip", "this is no JSON"),
        (lambda good: good.replace(b"Both pairs heard.", b"Nobody was heard."), "nothing was imported"),
    ],
)
def test_a_damaged_file_is_one_sentence_and_nothing_of_it_is_imported(
    client: TestClient, log: Log, content: Any, told: str
) -> None:
    good = client.get("/log.jsonl?case=c1").content
    if b"Nobody" not in content(good):
        log.delete("c1")
    before = list(log.entries())
    answer = client.post("/log-import", files={"file": ("../old log.jsonl", content(good))})
    assert answer.status_code == 422
    assert "Nothing was imported." in flat(answer.text)
    assert told in flat(answer.text)
    assert list(log.entries()) == before


def test_no_file_an_empty_one_and_one_too_large_are_told(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "There is no file, or it is empty" in flat(client.post("/log-import", files={"file": ("a", b"")}).text)
    assert "There is no file, or it is empty" in flat(client.post("/log-import", data={"file": "text"}).text)
    monkeypatch.setattr(log_pages, "IMPORT_BYTES", 2_000_000)
    answer = client.post("/log-import", files={"file": ("a", b" " * 2_000_001)})
    assert answer.status_code == 413
    assert "larger than 2 MB" in flat(answer.text)


def test_an_upload_of_unknown_length_is_not_read(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"--x\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/log-import", content=pieces(), headers=headers).status_code == 413


def test_an_upload_that_is_no_form_is_told(client: TestClient) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post("/log-import", content=b"--y nonsense", headers=headers)
    assert answer.status_code == 400
    assert "log" in answer.text


# A disk without room, a file that cannot be used


def full_disk(log: Log) -> TestClient:
    def opened() -> Log:
        return FullDisk(log._path)

    return TestClient(app_over(opened), follow_redirects=False)


def test_a_full_disk_is_told_and_what_was_typed_is_still_there(log: Log) -> None:
    note = "long " * 700
    before = list(log.entries())
    for _ in range(40):  # what room the last page of the file has is filled up first
        answer = full_disk(log).post("/log/c1/correct", data={"turn": "1", "note": f"{note}{_}"})
        if answer.status_code != 303:
            break
        before = list(log.entries())
    assert answer.status_code == 503
    assert "database or disk is full); free some space" in flat(answer.text)
    assert f"{note}{_}" in answer.text
    assert list(log.entries()) == before
    assert full_disk(log).get("/log").status_code == 200


def test_a_log_that_cannot_be_used_is_told_on_every_page(client: TestClient, home: Path) -> None:
    (home / "data").mkdir(parents=True, exist_ok=True)
    (home / "data" / "log.sqlite3").write_bytes(b"no database at all" * 500)
    for address in ("/log", "/log/c1", "/log.jsonl", "/log.csv", "/log-gold.jsonl"):
        answer = client.get(address)
        assert answer.status_code == 503
        assert "free some space, or move the file away" in flat(answer.text)


def test_an_appeal_page_says_so_when_the_regulations_cannot_be_read(client: TestClient, log: Log, home: Path) -> None:
    assert ACCEPT in flat(client.get("/log/c1/appeal").text)
    (home / "data" / "event.yaml").write_text("appeal_minutes: soon", encoding="utf-8")
    answer = client.get("/log/c1/appeal")
    assert answer.status_code == 503
    assert "event.yaml: appeal_minutes" in flat(answer.text)


# What a case's page knows of others


def test_a_revision_names_what_it_changed(client: TestClient, log: Log) -> None:
    log.correct("c1", 1, Correction(verdict="", why=""))
    told = flat(client.get("/log/c1").text)
    assert "Table: 5" in told
    assert "Board: 12" in told
    assert "Why: –" in told


@pytest.mark.parametrize("lang", languages())
def test_every_status_and_feedback_can_be_shown(client: TestClient, home: Path, lang: str) -> None:
    for number, status in enumerate(("ruling", "judgement", "ask", "quote", "not-covered"), start=1):
        made = ruling(status=status, lang=lang)
        open_log().add([Entry(f"s{number}", 1, 1, "2026-05-01T12:00:00.000+00:00", "q", made, verdict="right")])
        assert client.get(f"/log/s{number}", headers={"Accept-Language": lang}).status_code == 200
    assert len(listed(client, "/log")) == 5


def test_a_ruling_that_another_follows_is_shown_whole(client: TestClient, home: Path) -> None:
    second = make_ruling(answer="Play on.", sentences=())
    open_log().record("c1", 1, "q", to_json(replace(make_ruling(), then=(second,))), {})
    assert "Play on." in flat(client.get("/log/c1").text)


@pytest.mark.usefixtures("log")
def test_a_place_corrected_for_a_whole_case_is_told_on() -> None:
    told: list[tuple[str, Place]] = []
    app = FastAPI()
    app.include_router(log_router(lambda case: False, open_log, lambda case, place: told.append((case, place))))
    with TestClient(app, follow_redirects=False) as client:
        client.post("/log/c1/correct", data={"table": "7", "board": "13"})
        client.post("/log/c1/correct", json={"board": "14"})
        assert told == [("c1", Place("7", "13")), ("c1", Place("7", "14"))]
        client.post("/log/c1/correct", data={"turn": "1", "table": "8"})
        client.post("/log/c1/correct", data={"note": "Both pairs heard."})
        client.post("/log/c1/feedback", data={"turn": "1", "verdict": "right"})
        assert client.post("/log/c9/correct", data={"table": "7"}).status_code == 404
        assert len(told) == 2
