from __future__ import annotations

import json
from pathlib import Path

import pytest

from index import paths
from rag.cases import CASES_FILE, Cases
from rag.log import open_log
from rag.log_entry import Correction
from tests.made import KEEP_IT
from tests.test_cli import Done, Run, error_line, flat, opened, run
from tests.test_log import put

__all__ = ["opened", "run"]  # fixtures


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_list_gives_the_rulings_newest_first(run: Run) -> None:
    put(open_log(), "c1", question="East revoked")
    put(open_log(), "c2", question="West bid too low")
    open_log().correct("c1", 1, Correction(table="5", board="12"))
    rows = run("log", "list", "--json").json
    assert [list(row) for row in rows] == [["case", "turn", "revision", "time", "table", "board", "status", "question"]] * 2
    assert [(row["case"], row["revision"], row["table"], row["question"]) for row in rows] == [
        ("c1", 2, "5", "East revoked"),
        ("c2", 1, "", "West bid too low"),
    ]
    assert [row["case"] for row in run("log", "list", "--text", "revoked", "--json").json] == ["c1"]
    assert [row["case"] for row in run("log", "list", "--table", "5", "--json").json] == ["c1"]
    assert [row["case"] for row in run("log", "list", "--limit", "1", "--json").json] == ["c1"]
    assert "West bid" in flat(run("log", "list").out)


def test_an_empty_log_is_listed(run: Run) -> None:
    assert run("log", "list", "--json").json == []


@pytest.mark.parametrize(
    ("kind", "begins"), [("json", '{"tablelaw_log": 1'), ("csv", "\ufeffcase,turn,"), ("html", "<!doctype html>"), ("gold", "")]
)
def test_export_writes_a_file(run: Run, tmp_path: Path, kind: str, begins: str) -> None:
    put(open_log())
    case = ["--case", "c1"] if kind == "html" else []
    assert run("log", "export", tmp_path / "out", "--format", kind, *case) == Done(0, "", "")
    text = (tmp_path / "out").read_text(encoding="utf-8")
    assert text.startswith(begins)
    assert bool(text) == (kind != "gold")
    told = run("log", "export", tmp_path / "out", "--format", kind, *case, "--json").json
    assert told == {"file": str(tmp_path / "out"), "format": kind, "case": "c1" if case else None}


def test_export_of_one_case_holds_no_other(run: Run, tmp_path: Path) -> None:
    put(open_log(), "c1")
    put(open_log(), "c2")
    run("log", "export", tmp_path / "one", "--case", "c2")
    run("log", "export", tmp_path / "all")
    assert [line["case"] for line in lines(tmp_path / "one")] == ["c2"]
    assert [line["case"] for line in lines(tmp_path / "all")] == ["c1", "c2"]


def test_feedback_is_exported_for_the_gold_set(run: Run, tmp_path: Path) -> None:
    put(open_log())
    open_log().correct("c1", 1, Correction(verdict="right"))
    run("log", "export", tmp_path / "gold.jsonl", "--format", "gold")
    assert [line["must_cite"] for line in lines(tmp_path / "gold.jsonl")] == [[["27A1"]]]


def test_import_adds_what_is_new(run: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = put(open_log())
    run("log", "export", tmp_path / "log.jsonl")
    monkeypatch.setenv("TABLELAW_HOME", str(tmp_path / "other"))
    assert run("log", "import", tmp_path / "log.jsonl") == Done(0, "Added 1.\n", "")
    assert open_log().find() == (made,)
    assert run("log", "import", tmp_path / "log.jsonl", "--json").json == {"added": 0}


def test_delete_deletes_a_case_for_good_from_the_log_and_the_page(run: Run) -> None:
    secret = "zzqxvillainous"
    cases = Cases(paths.data_dir() / CASES_FILE)
    case = cases.case_of(cases.add_turn("phone", secret, continues=False))
    assert case is not None
    put(open_log(), case, question=secret)
    assert run("log", "delete", case) == Done(0, f"Deleted {case}.\n", "")
    assert secret.encode() not in b"".join(file.read_bytes() for file in paths.data_dir().iterdir())
    assert cases.shown("phone") is None
    done = run("log", "delete", case)
    assert (done.code, error_line(done)) == (1, f'There is no case "{case}"; see: tablelaw log list')


def test_delete_tells_as_json_what_is_gone(run: Run) -> None:
    put(open_log())
    put(open_log())
    assert run("log", "delete", "c1", "--json").json == {"deleted": "c1", "revisions": 2}


def test_mistakes_are_told_in_one_line(run: Run, tmp_path: Path) -> None:
    put(open_log())
    (tmp_path / "bad.jsonl").write_text("no\n", encoding="utf-8")
    for arguments, words in (
        (["export", tmp_path / "o", "--format", "html"], "name it with --case ID"),
        (["export", tmp_path / "o", "--format", "gold", "--case", "c1"], "leave --case out"),
        (["export", tmp_path / "o", "--format", "pdf"], "--format"),
        (["export", tmp_path / "o", "--case", "c9"], 'The log has no case "c9"'),
        (["export", tmp_path / "no" / "o"], "cannot be written"),
        (["import", tmp_path / "missing"], "cannot be read"),
        (["import", tmp_path / "bad.jsonl"], "bad.jsonl:1: this is no JSON"),
        (["list", "--limit", "0"], "--limit"),
    ):
        done = run("log", *arguments)
        assert done.code in (1, 2)
        assert words in error_line(done)
    assert not (tmp_path / "o").exists()


@pytest.mark.usefixtures("calibrated")
def test_neither_ask_nor_a_batch_logs(run: Run, small_book: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps({"question": KEEP_IT}), encoding="utf-8")
    run("ask", KEEP_IT, "--book", small_book)
    run("ask", "--batch", source, "--out", tmp_path / "out.jsonl", "--book", small_book)
    assert lines(tmp_path / "out.jsonl")[0]["status"] == "ruling"
    assert list(paths.data_dir().glob("log*")) == []


def test_log_has_help(run: Run) -> None:
    assert run("log", "-h").out.startswith("Usage: tablelaw log")
