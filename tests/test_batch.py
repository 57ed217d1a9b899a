from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from index.errors import ContractError
from rag import batch
from rag.batch import parse_facts, read_state, run_ask_batch, run_search_batch, search_json, write_state
from rag.desk import Ask, Desk, answer_whole
from rag.ruling import State, Turn, state_to_json
from tests.fakes import FakeEmbedder
from tests.made import ACCEPT, KEEP_IT, make_book

STATE = State("small-2017-en", "en", (Turn(KEEP_IT, ACCEPT, ("27A1",)),))


@pytest.fixture
def desk() -> Desk:
    return Desk(FakeEmbedder(), None)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "in.jsonl", tmp_path / "out.jsonl"


@pytest.fixture
def run(desk: Desk, files: tuple[Path, Path], small_book: str) -> Any:
    """Runs a batch of lines (objects, or raw text) over the small book and gives what was written."""

    def run_lines(*lines: Any, **defaults: Any) -> list[dict[str, Any]]:
        source, target = files
        texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
        source.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
        run_ask_batch(desk, source, target, Ask(None, small_book, **defaults))
        return [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n")[:-1]]

    return run_lines


def ids(written: Sequence[dict[str, Any]]) -> list[Any]:
    return [line.get("id") for line in written]


def test_answers_come_in_the_order_of_the_questions(run: Any) -> None:
    lines = [{"id": n, "question": f"27{letter}"} for n, letter in ((3, "A1"), (1, "B1"), (2, "A1"))]
    written = run(*lines)
    assert ids(written) == [3, 1, 2]
    assert [line["cites"][0] for line in written] == ["27A1", "27B1", "27A1"]


def test_a_line_is_the_id_and_then_the_answer_of_ask(run: Any) -> None:
    (line,) = run({"id": "q-1", "question": KEEP_IT})
    assert list(line)[:3] == ["id", "question", "lang"]
    assert (line["id"], line["status"], line["sentences"][0]["text"]) == ("q-1", "quote", ACCEPT)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ({"id": 7}, "must be text"),
        ({"id": 7, "question": ""}, "empty"),
        ({"id": 7, "question": ["a"]}, "must be text"),
        ({"id": 7, "question": "27A1", "book": "laws-2099-en"}, "no book"),
        ({"id": 7, "question": "27A1", "lang": "de"}, "no language"),
        ({"id": 7, "question": "27A1", "facts": [1]}, "facts must be"),
        ({"id": 7, "question": "27A1", "facts": {"trick": 6}}, '"trick"'),
        ({"id": 7, "question": "27A1", "state": "a case"}, "state"),
    ],
)
def test_a_line_that_fails_carries_its_id_and_the_error_and_the_others_are_answered(
    run: Any, line: dict[str, Any], error: str
) -> None:
    written = run({"id": 1, "question": "27A1"}, line, {"id": 2, "question": "27B1"})
    assert ids(written) == [1, 7, 2]
    assert error in written[1]["error"]
    assert [("error" in other) for other in written] == [False, True, False]


@pytest.mark.parametrize("line", ["{", "no JSON", '["a list"]', "5", '"text"'])
def test_a_line_that_is_no_object_gives_an_error_in_its_place(run: Any, line: str) -> None:
    written = run(line, {"id": 2, "question": "27A1"})
    assert "JSON" in written[0]["error"]
    assert (len(written), written[1]["id"], written[1]["status"]) == (2, 2, "quote")


@pytest.mark.parametrize("key", ["book", "lang"])
def test_an_option_of_the_wrong_type_is_an_error_of_its_line(run: Any, key: str) -> None:
    written = run({"id": 1, "question": "27A1", key: 5}, {"id": 2, "question": "27A1"})
    assert "error" in written[0]
    assert written[1]["status"] == "quote"


def test_half_a_surrogate_pair_is_an_error_of_its_line(run: Any) -> None:
    written = run('{"id": 1, "question": "East \\ud83d led"}', {"id": 2, "question": "27A1"})
    assert ids(written) == [1, 2]
    assert written[1]["status"] == "quote"


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 1, "question": "\\ud83d"}',
        '{"id": "\\ud83d", "question": "27A1"}',
        '{"id": 1, "question": "27A1", "book": "\\ud83d"}',
    ],
)
def test_half_a_surrogate_pair_anywhere_in_a_line_does_not_stop_the_others(run: Any, line: str) -> None:
    written = run(line, {"id": 2, "question": "27A1"})
    assert (len(written), written[1]["status"]) == (2, "quote")


@pytest.mark.parametrize(
    "key",
    [
        "book",
        "lang",
        "state",
        "facts",
    ],
)
def test_an_option_that_is_null_is_as_if_left_out(run: Any, key: str) -> None:
    (line,) = run({"id": 1, "question": "27A1", key: None})
    assert line.get("status") == "quote"


def test_a_line_nested_too_deeply_is_an_error_in_its_place(run: Any) -> None:
    written = run("[" * 100_000, {"id": 2, "question": "27A1"})
    assert "error" in written[0]
    assert written[1]["status"] == "quote"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_a_line_ends_at_a_line_feed_only(run: Any, separator: str) -> None:
    assert ids(run({"id": 1, "question": f"27A1{separator}says what?"})) == [1]


def test_keys_that_nobody_knows_are_ignored(run: Any) -> None:
    (line,) = run({"id": 1, "question": "27A1", "gold": "56", "_note": None, "k": 3})
    assert line["status"] == "quote"
    assert not {"gold", "_note", "k"} & set(line)


def test_options_of_a_line_win_over_those_of_the_command(run: Any, home: Path) -> None:
    other = make_book(home, "other-2017-en")
    written = run({"id": 1, "question": "27A1", "book": other, "lang": "ru"}, {"id": 2, "question": "27A1"}, lang="en")
    assert [(line["book"], line["lang"]) for line in written] == [(other, "ru"), ("small-2017-en", "en")]


def test_facts_of_the_command_are_used_unless_the_line_has_its_own(run: Any) -> None:
    lines = [{"id": 1, "question": "27A1"}, {"id": 2, "question": "27A1", "facts": {"dummy": "yes"}}]
    written = run(*lines, facts={"trick": "6"})
    assert '"trick"' in written[0]["error"]
    assert '"dummy"' in written[1]["error"]


def test_a_line_can_say_that_it_has_no_facts(run: Any) -> None:
    (line,) = run({"id": 1, "question": "27A1", "facts": {}}, facts={"trick": "6"})
    assert "error" not in line


def test_a_state_of_a_line_is_continued(run: Any) -> None:
    (line,) = run({"id": 1, "question": "27A1", "state": state_to_json(STATE)})
    assert [turn["question"] for turn in line["state"]["turns"]] == [KEEP_IT, "27A1"]


def test_the_same_question_twice_does_not_become_a_conversation(run: Any) -> None:
    assert [len(line["state"]["turns"]) for line in run(*[{"id": n, "question": "27A1"} for n in (1, 2)])] == [1, 1]


def test_an_empty_file_gives_an_empty_file(run: Any, files: tuple[Path, Path]) -> None:
    assert run() == []
    assert files[1].read_bytes() == b""


def test_empty_lines_are_passed_over(run: Any) -> None:
    assert ids(run("", {"id": 1, "question": "27A1"}, "   ", {"id": 2, "question": "27A1"})) == [1, 2]


@pytest.mark.parametrize("content", [b"\xff\xfe{}", "ход".encode("cp1251"), None])
def test_a_source_that_cannot_be_read_is_named_and_nothing_is_written(
    desk: Desk, files: tuple[Path, Path], content: bytes | None
) -> None:
    source, target = files
    if content is not None:
        source.write_bytes(content)
    with pytest.raises(ContractError, match=rf"{source} cannot be read .*; give a UTF-8 file"):
        run_ask_batch(desk, source, target, Ask(None))
    assert not target.exists()


def test_a_target_that_cannot_be_written_is_named(desk: Desk, files: tuple[Path, Path]) -> None:
    source, _ = files
    source.write_text("", encoding="utf-8")
    target = source.parent / "missing" / "out.jsonl"
    with pytest.raises(ContractError, match=f"{target} cannot be written"):
        run_ask_batch(desk, source, target, Ask(None))


def test_a_batch_that_is_broken_off_leaves_the_old_output_whole(
    desk: Desk, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = files
    source.write_text('{"question": "27A1"}\n' * 3, encoding="utf-8")
    target.write_text("old\n", encoding="utf-8")
    asked = []

    def stop_at_second(made: Desk, ask: Ask) -> Any:
        asked.append(ask.question)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return answer_whole(made, ask)

    monkeypatch.setattr(batch, "answer_whole", stop_at_second)
    with pytest.raises(ContractError, match=r"Stopped; the answers so far are in .*out\.jsonl\.part"):
        run_ask_batch(desk, source, target, Ask(None))
    assert len(asked) == 2
    assert len(target.with_name("out.jsonl.part").read_text(encoding="utf-8").splitlines()) == 1
    assert target.read_text(encoding="utf-8") == "old\n"


def test_progress_is_told_after_each_line(desk: Desk, files: tuple[Path, Path], small_book: str) -> None:
    source, target = files
    source.write_text('{"question": "27A1"}\nbroken\n', encoding="utf-8")
    told: list[tuple[int, int]] = []
    run_ask_batch(desk, source, target, Ask(None, small_book), lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_a_batch_of_searches_gives_hits_with_the_ids(desk: Desk, files: tuple[Path, Path], small_book: str) -> None:
    source, target = files
    source.write_text('{"id": 1, "question": "27A1"}\n{"id": 2, "question": ""}\n', encoding="utf-8")
    run_search_batch(desk, source, target, Ask(None, small_book), 2)
    first, second = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert list(first) == ["id", "question", "book", "hits", "search_ms"]
    assert (first["hits"][0]["id"], len(first["hits"])) == ("27A1", 2)
    assert (second["id"], list(second)) == (2, ["id", "question", "error"])


def test_a_search_gives_heading_text_and_falling_scores(desk: Desk, small_book: str) -> None:
    hits = search_json(desk, Ask(KEEP_IT, small_book), 5)["hits"]
    assert hits[0]["text"] == ACCEPT
    assert hits[0]["heading"].startswith("Law 27 Insufficient bid > 27A When it is accepted > 27A1")
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_facts_are_read_from_options() -> None:
    assert parse_facts(["trick=6", " dummy = yes ", "said=1S=game", "empty="]) == {
        "trick": "6",
        "dummy": "yes",
        "said": "1S=game",
        "empty": "",
    }


@pytest.mark.parametrize("pair", ["trick", "", "=6", "  =6"])
def test_a_fact_without_a_name_or_equals_sign_is_refused(pair: str) -> None:
    with pytest.raises(ContractError, match="is not a fact; write it as --fact name=value"):
        parse_facts(["trick=6", pair])


def test_a_state_file_is_kept_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    assert read_state(path) is None
    write_state(path, STATE)
    assert read_state(path) == STATE
    assert [file.name for file in tmp_path.iterdir() if "case.json" in file.name] == ["case.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xff", b"null", b"[]", b'{"version": 9}'])
def test_a_damaged_state_file_is_told_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "case.json"
    path.write_bytes(content)
    with pytest.raises(ContractError) as caught:
        read_state(path)
    assert "\n" not in str(caught.value)


def test_a_state_file_in_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "case.json"
    with pytest.raises(ContractError, match=f"{path} cannot be written"):
        write_state(path, STATE)
