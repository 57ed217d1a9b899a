"""``tablelaw book import`` and ``book remove``, as typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cli
from index.import_report import ImportReport
from rag.terminal import Bar
from tests.made_laws import expected, print_laws, text_of_laws


class Done:
    """What a command left behind."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):
    """Runs the command line in this process."""

    def run_line(*arguments: Any) -> Done:
        with pytest.raises(SystemExit) as stop:
            cli.main([*map(str, arguments)])
        captured = capsys.readouterr()
        return Done(int(stop.value.code or 0), captured.out, captured.err)

    return run_line


@pytest.fixture
def laws(tmp_path: Path) -> Path:
    path = tmp_path / "laws.txt"
    path.write_text(text_of_laws(), encoding="utf-8")
    return path


ORDER = ("--id", "pebbles", "--edition", "1", "--lang", "en")


def test_an_import_prints_its_report_and_the_book_can_be_read(run, laws: Path, home: Path) -> None:
    done = run("book", "import", laws, *ORDER)
    assert (done.code, done.err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert lines["source"] == "laws.txt: text in utf-8, pages: 1"
    assert lines["clauses"] == f"{len(expected())}, of them footnotes: 1; laws: 3"
    assert lines["unassigned"] == "0.0% of the text"
    assert lines["stored"] == str(home / "data" / "books" / "pebbles")
    exported = [json.loads(line) for line in run("book", "export", "pebbles", "--json").out.splitlines()]
    assert {line["id"]: (line["heading"], line["text"]) for line in exported} == expected()
    assert {line["complete"] for line in exported} == {True}


def test_an_import_as_json_is_the_whole_report(run, laws: Path) -> None:
    report = json.loads(run("book", "import", laws, *ORDER, "--json").out)
    assert list(report) == list(ImportReport.__dataclass_fields__)
    assert (report["book"], report["reader"], report["clauses"]) == ("pebbles", "generic", len(expected()))
    assert len(report["sources"][0]["sha256"]) == 64


def test_a_dry_run_prints_only_the_report(run, laws: Path, home: Path) -> None:
    done = run("book", "import", laws, *ORDER, "--dry-run")
    assert done.code == 0
    assert "no, this was a dry run" in done.out
    assert json.loads(run("book", "import", laws, *ORDER, "--dry-run", "--json").out)["stored"] is None
    assert not (home / "data").exists()


def test_what_is_wrong_is_in_the_report(run, tmp_path: Path) -> None:
    path = tmp_path / "laws.txt"
    text = "Words before.\n" + "".join(f"Law {n}. Title\nA. Pebble {n} is round.\n" for n in (*range(1, 40, 2), 40))
    path.write_text(text + "B. No.\n", encoding="utf-8")
    printed = " ".join(run("book", "import", path, *ORDER, "--dry-run").out.split())
    assert "missing numbers 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 (19)" in printed
    assert "very short 40B (1)" in printed
    assert "| Words before." in printed


def test_a_long_list_is_cut_short_for_people(run, tmp_path: Path) -> None:
    path = tmp_path / "laws.txt"
    path.write_text("".join(f"Law {n}. Title\nA. Pebble {n} is round.\n" for n in range(1, 100, 2)), encoding="utf-8")
    assert " 38 40 ... (49)\n" in run("book", "import", path, *ORDER, "--dry-run").out
    assert len(json.loads(run("book", "import", path, *ORDER, "--dry-run", "--json").out)["gaps"]) == 49


def test_kind_and_reader_are_chosen(run, laws: Path) -> None:
    run("book", "import", laws, *ORDER, "--kind", "commentary", "--reader", "generic")
    (row,) = [row for row in json.loads(run("book", "list", "--json").out) if row["id"] == "pebbles"]
    assert (row["kind"], row["source"], row["in_force"], row["edition"]) == ("commentary", "imported", False, "1")


def test_progress_is_shown_page_by_page(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    monkeypatch.setattr(Bar, "progress", lambda _, done, total: seen.append((done, total)))
    run("book", "import", print_laws(tmp_path / "laws.pdf"), *ORDER)
    assert seen
    assert seen[-1][0] == seen[-1][1] == len(seen)


def test_a_book_is_removed(run, laws: Path) -> None:
    run("book", "import", laws, *ORDER)
    assert run("book", "remove", "pebbles").out == "Removed pebbles.\n"
    assert "pebbles" not in run("book", "list").out
    run("book", "import", laws, *ORDER)
    assert json.loads(run("book", "remove", "pebbles", "--json").out) == {"removed": "pebbles"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["book", "import"], "FILE"),
        (["book", "import", "laws.txt"], "--id"),
        (["book", "import", "laws.txt", "--id", "a", "--edition", "1"], "--lang"),
        (["book", "import", "missing.txt", *ORDER], "There is no file missing.txt; check its name"),
        (["book", "import", ".", *ORDER], "is a folder; name the files in it"),
        (["book", "import", "poem.txt", *ORDER], "No law numbers were found in poem.txt"),
        (
            ["book", "import", "laws.txt", *ORDER, "--reader", "ocr"],
            'no reader "ocr"; the readers are: dc4-ru, generic, laws-1987-ru',
        ),
        (["book", "import", "laws.txt", *ORDER, "--kind", "poem"], 'no kind "poem"'),
        (["book", "import", "laws.txt", "laws.txt", *ORDER], "are the same file"),
        (["book", "import", "laws.txt", "--id", "../x", "--edition", "1", "--lang", "en"], "is no book id"),
        (["book", "import", "laws.txt", "--id", "laws-2017-en", "--edition", "2017", "--lang", "en"], "comes with the program"),
        (["book", "remove", "laws-2017-en"], "comes with the program and is not removed"),
        (["book", "remove", "x" * 5000], "yours are: none"),
        (["book", "remove"], "B"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    run, laws: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    (laws.parent / "poem.txt").write_text("A poem, without numbers.", encoding="utf-8")
    monkeypatch.chdir(laws.parent)
    done = run(*arguments)
    assert done.code in (1, 2)
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert words in line
    assert len(line) < 400
