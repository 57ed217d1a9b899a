from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.errors import ContractError
from rag.files import write_file
from rag.log import Log, LogSettings
from rag.log_entry import Correction, Entry, entry_to_json
from rag.log_export import COLUMNS, csv_lines, import_log, json_lines
from tests.made import ACCEPT
from tests.test_log import put

FORMULAS = ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r\n+1"]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """Two cases, with corrections, feedback, names, and texts that are hard to carry."""
    made = Log(tmp_path / "one.sqlite3")
    made.set_settings(LogSettings(keep_names=True))
    put(made, question='Восток: "не так", 3♠\u2028новая строка; 🃏')
    made.correct("c1", 1, Correction(table="5", board="12", note="first\nsecond", players={"north": "Энн О'Нил"}))
    made.correct("c1", 1, Correction(verdict="wrong", why='it is 27B1, not "27A1"'))
    put(made, turn=2, question="and then?", status="not-covered", cites=(), laws=())
    put(made, "c2", question="another")
    return made


@pytest.fixture
def other(tmp_path: Path) -> Log:
    made = Log(tmp_path / "two.sqlite3")
    made.set_settings(LogSettings(keep_names=True))
    return made


def write(path: Path, *lines: Any) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def exported(log: Log, path: Path) -> Path:
    write_file(path, json_lines(log.entries()))
    return path


def some_entry(log: Log) -> dict[str, Any]:
    return json.loads(json.dumps(entry_to_json(next(log.entries()))))


# JSON lines


def test_what_is_exported_comes_back_equal(log: Log, other: Log, tmp_path: Path) -> None:
    assert import_log(other, exported(log, tmp_path / "log.jsonl")) == 5
    assert list(other.entries()) == list(log.entries())
    assert other.find(text="новая") == log.find(text="новая") != ()
    assert exported(other, tmp_path / "again.jsonl").read_bytes() == (tmp_path / "log.jsonl").read_bytes()


def test_importing_twice_adds_nothing(log: Log, other: Log, tmp_path: Path) -> None:
    path = exported(log, tmp_path / "log.jsonl")
    import_log(other, path)
    assert import_log(other, path) == 0
    assert import_log(log, path) == 0
    assert len(list(other.entries())) == 5


def test_an_import_adds_what_is_new_to_what_is_here(log: Log, other: Log, tmp_path: Path) -> None:
    put(other, "mine")
    import_log(other, exported(log, tmp_path / "log.jsonl"))
    log.correct("c2", 1, Correction(note="later"))
    assert import_log(other, exported(log, tmp_path / "log.jsonl")) == 1
    assert {entry.case for entry in other.find()} == {"mine", "c1", "c2"}
    assert other.find(text="later")[0].revision == 2


def test_revisions_that_went_apart_are_refused_and_nothing_is_imported(log: Log, other: Log, tmp_path: Path) -> None:
    import_log(other, exported(log, tmp_path / "log.jsonl"))
    log.correct("c2", 1, Correction(note="here"))
    other.correct("c2", 1, Correction(note="there"))
    put(log, "c0")
    with pytest.raises(ContractError, match="Case c2, question 1, revision 2 stands differently in this log"):
        import_log(other, exported(log, tmp_path / "log.jsonl"))
    assert "c0" not in {entry.case for entry in other.find()}


def test_names_are_left_out_where_they_are_not_kept(log: Log, other: Log, tmp_path: Path) -> None:
    other.set_settings(LogSettings())
    path = exported(log, tmp_path / "log.jsonl")
    import_log(other, path)
    assert list(other.entries()) == [replace(entry, players={}) for entry in log.entries()]
    assert import_log(other, path) == 0


def without(data: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda good: "no JSON", "this is no JSON"),
        (lambda good: [good], "this is not an entry of a ruling log"),
        (lambda good: without(good, "tablelaw_log"), "this is not an entry of a ruling log"),
        (lambda good: {**good, "tablelaw_log": 2}, "the entry is of version 2, not 1; update the program"),
        (lambda good: without(good, "ruling"), "ruling: "),
        (lambda good: {**good, "ruling": without(good["ruling"], "laws")}, "laws: "),
        (lambda good: {**good, "ruling": {**good["ruling"], "status": "odd"}}, "status: "),
        (lambda good: {**good, "colour": "red"}, "colour: "),
        (lambda good: {**good, "case": ""}, "case: "),
        (lambda good: {**good, "revision": 0}, "revision: "),
        (lambda good: {**good, "turn": 2**70}, "turn: "),
        (lambda good: {**good, "verdict": "maybe"}, "verdict: "),
        (lambda good: {**good, "players": ["Ann"]}, "players: "),
        (lambda good: {**good, "time": "yesterday"}, "yesterday"),
        (lambda good: {**good, "time": "2026-05-01 12:00"}, "is not a time as the log writes it"),
        (lambda good: {**good, "note": "\ud800"}, "log.jsonl:3: "),
        (lambda good: {**good, "ruling": {**good["ruling"], "extra": "\ud800"}}, "log.jsonl:3: "),
        (lambda good: json.dumps(good).replace('"score": 0.9', '"score": NaN'), "log.jsonl:3: "),
        (lambda good: "[" * 100_000, "this is no JSON"),
    ],
)
def test_a_line_that_is_no_entry_is_named_and_nothing_is_imported(
    log: Log, other: Log, tmp_path: Path, change: Any, message: str
) -> None:
    good = some_entry(log)
    path = write(tmp_path / "log.jsonl", good, "", change({**good, "turn": 9}))
    with pytest.raises(ContractError, match=r"^log\.jsonl:3: ") as caught:
        import_log(other, path)
    assert message in str(caught.value)
    assert list(other.entries()) == []


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00"])
def test_a_file_that_cannot_be_read_is_told(other: Log, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "log.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ContractError, match=r"log\.jsonl cannot be read \(\w+\); name a UTF-8 file"):
        import_log(other, path)


# CSV


def rows(entries: Any) -> list[dict[str, str]]:
    text = "".join(csv_lines(entries))
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


def test_the_table_has_a_row_an_entry_with_the_cited_law(log: Log) -> None:
    entries = list(log.entries())
    table = rows(entries)
    assert [list(row) for row in table] == [list(COLUMNS)] * 5
    third = table[2]
    assert (third["case"], third["turn"], third["revision"], third["time"]) == ("c1", "1", "3", entries[2].time)
    assert (third["table"], third["board"], third["note"], third["verdict"]) == ("5", "12", "first\nsecond", "wrong")
    assert (third["cites"], third["law"], third["players"]) == ("27A1", f"27A1: {ACCEPT}", "north: Энн О'Нил")
    assert third["question"] == entries[2].question
    assert (table[3]["status"], table[3]["law"]) == ("not-covered", "")


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("field", ["question", "table", "board", "note", "why"])
def test_no_cell_is_a_formula(log: Log, formula: str, field: str) -> None:
    entry = replace(next(log.entries()), **{field: formula})
    assert rows([entry])[0][field] == f"'{formula}"


def test_an_answer_is_no_formula_and_other_cells_are_as_they_are(log: Log) -> None:
    entry: Entry = next(log.entries())
    row = rows([replace(entry, ruling={**entry.ruling, "answer": "=1"}, note="a = b")])[0]
    assert (row["answer"], row["note"]) == ("'=1", "a = b")


# Files


def test_a_file_that_cannot_be_written_is_told_and_what_was_there_stays(tmp_path: Path) -> None:
    def broken() -> Any:
        yield "half"
        raise ContractError("The log cannot be used.")

    path = tmp_path / "log.jsonl"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(ContractError, match="cannot be used"):
        write_file(path, broken())
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [("log.jsonl", "before")]
    with pytest.raises(
        ContractError, match=r"missing/log\.jsonl cannot be written \(No such file or directory\); name another"
    ):
        write_file(tmp_path / "missing" / "log.jsonl", ["x"])
    with pytest.raises(ContractError, match="cannot be written"):
        write_file(tmp_path, ["x"])
