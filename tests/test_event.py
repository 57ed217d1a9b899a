from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import rag.event as event_module
from index.errors import ContractError
from rag.event import DECIDED_BY, Event, event_path, read_event, regulations
from rag.procedure import Leaf, Said, read_procedures
from rag.rule import rule
from rag.ruled import to_ruling
from rag.strings import languages, strings


def leaf(*cites: str) -> Leaf:
    sentence = Said(part="now", cites=list(cites), en="So it is.", ru="Так.")
    return Leaf(kind="book", cites=list(cites), sentences=[sentence])


def put(home: Path, text: str) -> None:
    event_path().parent.mkdir(parents=True, exist_ok=True)
    event_path().write_text(text, encoding="utf-8")


def told(lang: str, made: Event, *cites: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(sentence.text, sentence.cites) for sentence in regulations(leaf(*cites), lang, made)]


def test_without_a_file_the_organiser_is_asked(home: Path) -> None:
    assert read_event() == Event()
    assert told("en", Event(), "92B", "92A") == [("Time limit for appeals: ask the organiser.", ("92B",))]
    assert told("ru", Event(), "92B") == [("Срок подачи апелляций: спросите организатора.", ("92B",))]


def test_a_setting_is_told_where_the_ruling_turns_on_it(home: Path) -> None:
    put(home, "appeal_minutes: 45\nopening_lead: face-up\n")
    found = read_event()
    assert (
        told("en", found, "92B")[0][0]
        == "Time limit for appeals at this event: 45 minutes after the official score is available."
    )
    assert told("en", found, "41A") == [("At this event the opening lead is made face up.", ("41A",))]
    assert told("en", found, "64A1") == []


def test_it_stands_before_the_words_for_the_table(home: Path) -> None:
    ruling = to_ruling(rule("appeal", {"correction-period": "over"}), "en")
    parts = [sentence.part for sentence in ruling.sentences]
    assert parts == sorted(parts, key=["now", "options", "later", "say"].index)
    assert "Time limit for appeals: ask the organiser." in [sentence.text for sentence in ruling.sentences]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("appeal_minutes: soon", "appeal_minutes: Input should be a valid integer"),
        ("opening_lead: sideways", "opening_lead: Input should be 'face-down' or 'face-up'"),
        ("colour: red", "colour: Extra inputs are not permitted"),
        ("a: [", "cannot be read"),
    ],
)
def test_a_fault_in_the_file_is_one_sentence(home: Path, text: str, message: str) -> None:
    put(home, text)
    with pytest.raises(ContractError, match=r"event\.yaml") as caught:
        read_event()
    assert message in str(caught.value)


def test_the_bundled_file_has_every_setting_unset() -> None:
    bundled = Path(event_module.__file__).with_name("event.yaml")
    assert yaml.safe_load(bundled.read_text(encoding="utf-8")) == dict.fromkeys(Event.model_fields)


def test_every_setting_has_words_and_a_ruling_that_turns_on_it() -> None:
    cited = {clause for one in read_procedures().values() for end in one.leaves.values() for clause in end.cites}
    for setting, clauses in DECIDED_BY.items():
        assert clauses & cited, setting
        for lang in languages():
            assert f"event_{setting}" in strings(lang)
            assert f"event_{setting}_unset" in strings(lang)
