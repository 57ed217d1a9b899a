from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from index import paths, terms
from index.bm25 import split_words
from index.books import clause_list
from index.errors import BookError
from index.terms import LANGUAGES, Term, read_terms, stems, translate_terms

SEED_TERMS = {
    "call": "заявка",
    "bid": "назначение",
    "double": "контра",
    "declarer": "разыгрывающий",
    "defender": "вистующий",
    "dummy": "болван",
    "trick": "взятка",
    "revoke": "фальшренонс",
    "penalty card": "штрафная карта",
    "Director": "судья",
    "insufficient bid": "недостаточное назначение",
    "call out of rotation": "заявка вне очереди",
    "bid out of rotation": "назначение вне очереди",
    "adjusted score": "присуждённый результат",
}
SHARED: frozenset[tuple[str, str]] = frozenset()
"""Forms (language, form) that two terms share on purpose: the term named first wins."""
TRICK = '- {en: "trick", ru: "взятка", source: "1987"}\n'


@pytest.fixture
def own_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A list of terms that a test writes itself."""
    caches = (read_terms, terms._forms, terms._abbreviated)
    clause_list(terms.EDITION)
    monkeypatch.setattr(paths, "bundled_books_dir", lambda: tmp_path)
    for cache in caches:
        cache.cache_clear()
    yield tmp_path / "terms.yaml"
    for cache in caches:
        cache.cache_clear()


def abbreviations() -> list[str]:
    return [short for term in read_terms() for shorts in term.abbreviations.values() for short in shorts]


def test_every_definition_of_the_laws_is_in_the_list() -> None:
    definitions = {str(clause) for clause in clause_list(terms.EDITION) if str(clause).startswith("Def:")}
    assert len(definitions) == 66
    assert definitions - {str(term.clause) for term in read_terms()} == set()


def test_a_definition_has_the_term_it_defines() -> None:
    by_clause: dict[str, list[str]] = {}
    for term in read_terms():
        by_clause.setdefault(str(term.clause), []).append(term.name["en"].casefold().replace(" ", "-"))
    defined = {clause[4:]: names for clause, names in by_clause.items() if clause.startswith("Def:")}
    assert {clause: names for clause, names in defined.items() if clause not in names} == {}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_list_of_terms_names_each_once(lang: str) -> None:
    names = [term.name[lang].casefold() for term in read_terms()]
    assert [name for name in set(names) if names.count(name) > 1] == []


@pytest.mark.parametrize(
    ("lang", "letters"), [("en", "abcdefghijklmnopqrstuvwxyz"), ("ru", "абвгдежзийклмнопрстуфхцчшщъыьэюяё")]
)
def test_every_form_of_a_term_is_written_in_its_language(lang: str, letters: str) -> None:
    wrong = [
        form
        for term in read_terms()
        for form in (*term.forms(lang), *term.abbreviations[lang])
        if not set("".join(split_words(form))) & set(letters)
    ]
    assert wrong == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_form_is_given_twice_for_one_term(lang: str) -> None:
    doubled = []
    for term in read_terms():
        stemmed = [stems(form) for form in term.forms(lang)]
        doubled += [form for form in term.forms(lang) if stemmed.count(stems(form)) > 1]
    assert doubled == [], "one inflected form suffices for all that share a stem"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_form_belongs_to_two_terms_unless_listed(lang: str) -> None:
    owner: dict[tuple[str, ...], str] = {}
    shared = []
    for term in read_terms():
        for form in term.forms(lang):
            first = owner.setdefault(stems(form), term.name["en"])
            if first != term.name["en"] and (lang, form) not in SHARED:
                shared.append(f'"{form}" of {term.name["en"]} is also a form of {first}')
    assert shared == []


def test_no_abbreviation_belongs_to_two_terms_and_all_are_written_in_capitals() -> None:
    assert sorted(abbreviations()) == sorted(set(abbreviations()))
    assert [short for short in abbreviations() if not re.match(r"[A-ZА-Я]{2}", short)] == []


def test_the_usual_abbreviations_are_in_the_list() -> None:
    assert set("UI MI BIT LOOT POOT BOOT IB PC MPC LHO RHO TD AC NOS OS LA НИ БК".split()) <= set(abbreviations())


@pytest.mark.parametrize(("english", "russian"), SEED_TERMS.items())
def test_the_russian_terms_are_those_of_the_seed_texts(english: str, russian: str) -> None:
    (term,) = (term for term in read_terms() if term.name["en"] == english)
    assert (term.name["ru"], term.source) == (russian, "1987")


def test_terms_new_since_1987_are_marked() -> None:
    agreed = {term.name["en"] for term in read_terms() if term.source == "agreed"}
    assert agreed >= {"comparable call", "rectification", "weighted score", "correction period", "clarification period"}
    assert not agreed & {"revoke", "trick", "penalty card"}


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("у вистующего штрафная карта", "penalty card defender"),
        ("Вистующий пошёл не в свою очередь", "lead out of turn defender"),
        ("Вистующий сыграл не в свою очередь", "out of turn defender play"),
        ("сделал фальшренонс", "revoke"),
        ("недостаточная заявка", "insufficient bid"),
        ("заявка вне очереди", "call out of rotation"),
        ("назначение вне очереди", "bid out of rotation"),
        ("сосед слева задумался", "LHO hesitation"),
        ("партнер и партнёр", "partner"),
        ("ЗАЯВКУ?!", "call"),
        ("ренонс", "revoke"),
        ("взяток", "trick"),
        ("он прав, есть такое право, просто за столом", ""),
        ("как сварить рис", ""),
        ("", ""),
    ],
)
def test_the_terms_of_a_russian_question_are_named_in_english_longest_first(question: str, named: str) -> None:
    assert translate_terms(question, "ru", "en") == named


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("RHO revoked", "оппонент справа фальшренонс"),
        ("penalty cards of the defenders", "штрафная карта вистующий"),
        ("a psych", "блеф"),
        ("how to cook rice", ""),
    ],
)
def test_the_terms_of_an_english_question_are_named_in_russian(question: str, named: str) -> None:
    assert translate_terms(question, "en", "ru") == named


@pytest.mark.parametrize(
    ("question", "source", "target", "named"),
    [
        ("была НИ", "ru", "en", "unauthorized information"),
        ("ни одной", "ru", "en", ""),
        ("ЗАНИМАТЬ", "ru", "en", ""),
        ("это MPC?", "ru", "en", "major penalty card"),
        ("a BIT, then UI", "en", "ru", "нелегальная информация раздумье"),
        ("a bit late", "en", "ru", ""),
        ("LOOTS", "en", "ru", "ход вне очереди"),
    ],
)
def test_abbreviations_are_found_in_capitals_in_either_language(question: str, source: str, target: str, named: str) -> None:
    assert translate_terms(question, source, target) == named


@pytest.mark.parametrize("term", read_terms(), ids=lambda term: term.name["en"])
def test_every_term_is_found_by_its_own_english_name(term: Term) -> None:
    assert translate_terms(term.name["en"], "en", "ru") == term.name["ru"]


@pytest.mark.parametrize("term", read_terms(), ids=lambda term: term.name["en"])
def test_every_term_is_found_by_its_own_russian_name(term: Term) -> None:
    assert translate_terms(term.name["ru"], "ru", "en") == term.name["en"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_term_is_found_by_its_synonyms_and_abbreviations(lang: str) -> None:
    other = "ru" if lang == "en" else "en"
    for term in read_terms():
        for form in (*term.also[lang], *term.abbreviations[lang]):
            if (lang, form) not in SHARED:
                assert translate_terms(form, lang, other) == term.name[other], form


def test_words_of_a_longer_phrase_are_not_used_for_a_shorter_one(own_terms: Path) -> None:
    card = '- {en: "card", ru: "карта", source: "1987"}\n'
    own_terms.write_text(card + '- {en: "penalty card", ru: "штрафная карта", source: "1987"}\n', encoding="utf-8")
    assert translate_terms("штрафная карта", "ru", "en") == "penalty card"
    assert translate_terms("штрафная карта, карта", "ru", "en") == "penalty card card"


def test_a_phrase_is_found_only_whole_and_in_its_order(own_terms: Path) -> None:
    own_terms.write_text('- {en: "penalty card", ru: "штрафная карта", source: "1987"}\n', encoding="utf-8")
    assert translate_terms("карта штрафная", "ru", "en") == ""
    assert translate_terms("штрафная моя карта", "ru", "en") == ""


def test_a_name_wins_over_a_synonym_and_the_first_synonym_over_the_second(own_terms: Path) -> None:
    rows = [
        '{en: "opening lead", ru: "первый ход", source: "1987", also_ru: ["ход", "атака"]}',
        '{en: "lead", ru: "ход", source: "1987", also_ru: ["атака"]}',
    ]
    own_terms.write_text("".join(f"- {row}\n" for row in rows), encoding="utf-8")
    assert translate_terms("ход", "ru", "en") == "lead"
    assert translate_terms("атака", "ru", "en") == "opening lead"


@pytest.mark.parametrize("content", ["- {en: [", "", "just words", "5", "[]", "{en: trick}", "--- a\n--- b"])
def test_a_damaged_list_of_terms_is_told_in_one_sentence(own_terms: Path, content: str) -> None:
    own_terms.write_text(content, encoding="utf-8")
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged .*restore the file") as caught:
        read_terms()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{en: suit, ru: масть}", "source: Field required"),
        ("{en: suit, source: agreed}", "ru: Field required"),
        ("{ru: масть, source: agreed}", "en: Field required"),
        ("[suit, масть]", "the term: "),
        ("suit", "the term: "),
        ("{en: suit, ru: масть, source: agreed, new: true}", "new: Extra inputs"),
        ("{en: suit, ru: масть, source: hearsay}", "source: Input should be '1987', 'dc4', 'usage' or 'agreed'"),
        ('{en: suit, ru: " ", source: agreed}', "ru: String should have at least 1 character"),
        ("{en: [suit], ru: масть, source: agreed}", "en: Input should be a valid string"),
        ("{en: suit, ru: масть, source: agreed, also_en: renege}", "also_en: Input should be a valid list"),
        ("{en: suit, ru: масть, source: agreed, also_ru: [[масти]]}", "also_ru.0: Input should be a valid string"),
        ("{en: suit, ru: масть, source: agreed, clause: Def:suits}", "the Laws of 2017 have no clause Def:suits"),
        ("{en: suit, ru: масть, source: agreed, clause: 27Z}", "27Z"),
        ("{en: suit, ru: масть, source: agreed, also_en: [♠]}", '"♠" has no letters'),
        ("{en: suit, ru: масть, ru: карта, source: agreed}", "the field ru stands twice"),
        ("{en: suit, ru: Взятка, source: agreed}", 'the name "Взятка" is taken by the term of line 1 ("взятка")'),
        ("{en: tricks, ru: масть, source: agreed}", 'the name "tricks" is taken by the term of line 1 ("trick")'),
    ],
)
def test_a_fault_in_a_term_is_told_with_its_line(own_terms: Path, row: str, told: str) -> None:
    own_terms.write_text(f"{TRICK}# a comment\n- {row}\n", encoding="utf-8")
    with pytest.raises(BookError, match=r"^terms\.yaml:3: ") as caught:
        read_terms()
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_list_of_terms_is_told(own_terms: Path) -> None:
    assert not own_terms.exists()
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged"):
        read_terms()


def test_a_list_of_terms_that_is_not_utf8_is_told(own_terms: Path) -> None:
    own_terms.write_bytes(TRICK.encode("cp1251"))
    with pytest.raises(BookError, match=r"^terms\.yaml is damaged"):
        read_terms()
