from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from index import paths, terms
from index.bm25 import split_words
from index.errors import BookError
from index.terms import Term, read_terms, translate_terms

FILE = paths.bundled_books_dir() / "terms.yaml"
ROWS = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SEED_TERMS = "заявка назначение контра разыгрывающий вистующий болван взятка фальшренонс судья".split()


@pytest.fixture
def own_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A list of terms that a test writes itself."""
    monkeypatch.setattr(paths, "bundled_books_dir", lambda: tmp_path)
    read_terms.cache_clear()
    terms._phrases.cache_clear()
    yield tmp_path / "terms.yaml"
    read_terms.cache_clear()
    terms._phrases.cache_clear()


def forms(term: Term, lang: str) -> tuple[str, ...]:
    return (term.name[lang], *term.also[lang])


def test_the_list_of_terms_has_only_the_fields_it_promises() -> None:
    assert {key for row in ROWS for key in row} <= {"en", "ru", "also_en", "also_ru", "new"}
    assert [row["en"] for row in ROWS if not all(isinstance(row.get(f"also_{lang}", []), list) for lang in ("en", "ru"))] == []


def test_the_list_of_terms_names_each_once() -> None:
    names = [term.name["en"].casefold() for term in read_terms()]
    assert [name for name in set(names) if names.count(name) > 1] == []


@pytest.mark.parametrize(
    ("lang", "letters"), [("en", "abcdefghijklmnopqrstuvwxyz"), ("ru", "абвгдежзийклмнопрстуфхцчшщъыьэюяё")]
)
def test_every_form_of_a_term_is_written_in_its_language(lang: str, letters: str) -> None:
    wrong = [form for term in read_terms() for form in forms(term, lang) if not set("".join(split_words(form))) & set(letters)]
    assert wrong == [], "a form without words would be found in every text"
    other = {"en": "ru", "ru": "en"}[lang]
    assert [term.name[lang] for term in read_terms() if term.name[lang] == term.name[other]] == []


def test_no_form_is_given_twice_for_one_term() -> None:
    doubled = []
    for term in read_terms():
        for lang in ("en", "ru"):
            folded = [form.casefold() for form in forms(term, lang)]
            doubled += [form for form in set(folded) if folded.count(form) > 1]
    assert doubled == []


def test_the_russian_terms_are_those_of_the_seed_texts() -> None:
    names = {term.name["ru"] for term in read_terms()}
    assert set(SEED_TERMS) | {"штрафная карта"} <= names


def test_terms_new_since_1987_are_marked() -> None:
    new = {term.name["en"] for term in read_terms() if term.is_new}
    assert new >= {"comparable call", "rectification"}
    assert not new & {"revoke", "trick", "penalty card"}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("у вистующего штрафная карта", "penalty card defender"),
        ("Вистующий пошёл не в свою очередь", "lead out of turn defender lead"),
        ("сделал фальшренонс", "revoke"),
        ("недостаточная заявка", "insufficient bid"),
        ("назначение вне очереди", "out of rotation"),
        ("сосед слева задумался", "LHO hesitation"),
        ("партнер и партнёр", "partner"),
        ("ЗАЯВКУ?!", "bid"),
        ("ренонс", "revoke"),
        ("как сварить рис", ""),
        ("", ""),
    ],
)
def test_the_terms_of_a_russian_question_are_named_in_english_longest_first(question: str, named: str) -> None:
    assert translate_terms(question, "ru", "en") == named


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("RHO revoked", "фальшренонс правый противник"),
        ("penalty cards of the defenders", "штрафная карта вистующий"),
        ("a psych", "психическое назначение"),
        ("how to cook rice", ""),
    ],
)
def test_the_terms_of_an_english_question_are_named_in_russian(question: str, named: str) -> None:
    assert set(translate_terms(question, "en", "ru").split()) == set(named.split())


@pytest.mark.parametrize("term", read_terms(), ids=lambda term: term.name["en"])
def test_every_term_is_found_by_its_own_english_name(term: Term) -> None:
    assert term.name["ru"] in translate_terms(term.name["en"], "en", "ru")


@pytest.mark.parametrize("term", read_terms(), ids=lambda term: term.name["en"])
def test_every_term_is_found_by_its_own_russian_name(term: Term) -> None:
    assert translate_terms(term.name["ru"], "ru", "en") == term.name["en"]


def test_words_of_a_longer_phrase_are_not_used_for_a_shorter_one(own_terms: Path) -> None:
    own_terms.write_text('- {en: "card", ru: "карта"}\n- {en: "penalty card", ru: "штрафная карта"}\n', encoding="utf-8")
    assert translate_terms("штрафная карта", "ru", "en") == "penalty card"
    assert translate_terms("штрафная карта, карта", "ru", "en") == "penalty card card"


def test_a_phrase_is_found_only_whole_and_in_its_order(own_terms: Path) -> None:
    own_terms.write_text('- {en: "penalty card", ru: "штрафная карта"}\n', encoding="utf-8")
    assert translate_terms("карта штрафная", "ru", "en") == ""
    assert translate_terms("штрафная моя карта", "ru", "en") == ""


@pytest.mark.parametrize("content", ["- {en: [", "", "just words", "- {en: trick}", "- [trick, взятка]", "5"])
def test_a_damaged_list_of_terms_is_told_in_one_sentence(own_terms: Path, content: str) -> None:
    own_terms.write_text(content, encoding="utf-8")
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged .*restore the file") as caught:
        read_terms()
    assert "\n" not in str(caught.value)


def test_a_missing_list_of_terms_is_told(own_terms: Path) -> None:
    assert not own_terms.exists()
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged"):
        read_terms()


def test_a_list_of_terms_that_is_not_utf8_is_told(own_terms: Path) -> None:
    own_terms.write_bytes('- {en: "trick", ru: "взятка"}\n'.encode("cp1251"))
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged"):
        read_terms()


def test_synonyms_that_are_no_list_are_a_fault(own_terms: Path) -> None:
    own_terms.write_text('- {en: "revoke", ru: "фальшренонс", also_en: "renege"}\n', encoding="utf-8")
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged"):
        read_terms()
