from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from index.errors import ContractError
from index.types import Book
from index.wording import Shown
from rag import strings as strings_module
from rag.desk import card
from rag.page.render import FOLDER
from rag.question import LANGUAGES
from rag.rule import From
from rag.ruling import Part, Status
from rag.strings import authority, languages, strings
from tests.made import make_clause


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_every_language_of_questions_has_strings() -> None:
    assert set(languages()) >= set(LANGUAGES)


@pytest.mark.parametrize("lang", languages())
def test_every_language_has_the_same_keys(lang: str) -> None:
    assert strings(lang).keys() == strings("en").keys()


@pytest.mark.parametrize("lang", languages())
def test_every_language_has_the_same_placeholders(lang: str) -> None:
    english = {key: placeholders(text) for key, text in strings("en").items()}
    assert {key: placeholders(text) for key, text in strings(lang).items()} == english


@pytest.mark.parametrize("lang", languages())
def test_no_string_is_empty_or_broken_over_lines(lang: str) -> None:
    assert [key for key, text in strings(lang).items() if not text or "\n" in text or text == "None"] == []


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("status", get_args(Status))
def test_every_status_has_a_name(lang: str, status: str) -> None:
    assert strings(lang)[f"status_{status}"]


def test_russian_strings_are_russian() -> None:
    assert strings("ru")["status_ruling"] == "Что говорят правила"
    assert [key for key, text in strings("ru").items() if not any("а" <= char <= "я" for char in text.lower())] == []


@pytest.mark.parametrize("lang", ["de", "", "auto"])
def test_an_unknown_language_falls_back_to_english(lang: str) -> None:
    assert strings(lang) == strings("en")


def test_a_damaged_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xx.yaml").write_text("- a list\n", encoding="utf-8")
    monkeypatch.setattr(strings_module, "FOLDER", tmp_path)
    with pytest.raises(ContractError, match=r"^xx\.yaml is damaged"):
        strings("xx")


@pytest.mark.parametrize(
    ("lang", "source", "words"),
    [
        ("en", "restated", ["Laws of 2017", "the Director rules", "our own restatement"]),
        ("en", "imported", ["Laws of 2017", "the official text as imported"]),
        ("ru", "restated", ["2017 года", "решает судья", "наш пересказ"]),
        ("ru", "commentary", ["2017 года", "комментарий"]),
    ],
)
def test_the_authority_line_says_who_rules_by_which_edition_in_whose_words(lang: str, source: str, words: list[str]) -> None:
    line = authority(lang, "2017", source)
    assert [word for word in words if word not in line] == []


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize(
    "kind",
    [
        "law",
        "commentary",
        "regulation",
    ],
)
def test_a_card_of_every_kind_of_book_has_its_authority_line(tmp_path: Path, lang: str, kind: str) -> None:
    clause = make_clause("27A1", "text")
    book = Book("b", "2017", "en", kind, "B", "CC", "restated", "", in_force=True, folder=tmp_path, hash="h", clauses=(clause,))
    assert "2017" in authority(lang, book.edition, card(Shown(clause, book), 1.0).source)


@pytest.mark.parametrize("lang", languages())
def test_every_part_of_a_ruling_and_every_way_to_know_a_fact_has_a_name(lang: str) -> None:
    names = [f"part_{part}" for part in get_args(Part)]
    names += [f"from_{source}" for source in get_args(From) if source != "set"]  # what a ruling set is not shown as a chip
    assert [name for name in names if not strings(lang).get(name)] == []


@pytest.mark.parametrize("template", sorted(path.name for path in FOLDER.glob("*.html")))
def test_every_string_that_a_template_names_is_there(template: str) -> None:
    text = (FOLDER / template).read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:text|t)\.([a-z_0-9]+)\b", text))
    assert named - strings("en").keys() == set()
