"""The one list of terms (``books/terms.yaml``): English, Russian, synonyms; and its use across languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from index import paths
from index.bm25 import split_words, stem
from index.books import listed_clause
from index.clause_id import ClauseId
from index.errors import BookError, UnknownClause

EDITION = "2017"
"""The edition whose terms these are: the clauses that they name are its clauses."""
LANGUAGES = ("en", "ru")

Source = Literal["1987", "dc4", "usage", "agreed"]
_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # keeps 1987 and 12E1 strings
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class _Row(BaseModel, extra="forbid"):
    en: _Text
    ru: _Text
    source: Source
    clause: _Text | None = None
    abbr_en: list[_Text] = Field(default_factory=list)
    abbr_ru: list[_Text] = Field(default_factory=list)
    also_en: list[_Text] = Field(default_factory=list)
    also_ru: list[_Text] = Field(default_factory=list)


@dataclass(frozen=True)
class Term:
    """One term of the Laws: its name in each language, its abbreviations, and what people say instead."""

    name: dict[str, str]
    abbreviations: dict[str, tuple[str, ...]]
    also: dict[str, tuple[str, ...]]
    source: Source
    clause: ClauseId | None
    line: int

    def forms(self, lang: str) -> tuple[str, ...]:
        """The name and its synonyms in the language, the name first."""
        return (self.name[lang], *self.also[lang])


@lru_cache(maxsize=1)
def read_terms() -> tuple[Term, ...]:
    """All terms, in the order of the file. Raises `BookError`, with the line, when the file has a fault."""
    path = paths.bundled_books_dir() / "terms.yaml"
    try:
        terms = tuple(_read_term(path, line, row) for line, row in _read_rows(path))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BookError(f"{path.name} is damaged ({error!r}); restore the file.") from error
    _check_names(path, terms)
    return terms


def _read_rows(path: Path) -> Iterable[tuple[int, Any]]:
    loader = _Loader(path.read_text(encoding="utf-8"))
    root = loader.get_single_node()
    if not isinstance(root, yaml.SequenceNode) or not root.value:
        raise ValueError("no list of terms")
    for node in root.value:
        line = node.start_mark.line + 1
        keys = [key.value for key, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            raise BookError(f"{path.name}:{line}: the field {twice} stands twice; keep one.")
        yield line, loader.construct_object(node, deep=True)


def _read_term(path: Path, line: int, row: Any) -> Term:
    where = f"{path.name}:{line}"
    try:
        read = _Row.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the term"
        raise BookError(f"{where}: a term has the fields {', '.join(_Row.model_fields)}; {field}: {first['msg']}.") from error
    forms = [read.en, read.ru, *read.abbr_en, *read.abbr_ru, *read.also_en, *read.also_ru]
    wordless = next((form for form in forms if not split_words(form)), None)
    if wordless is not None:
        raise BookError(f'{where}: "{wordless}" has no letters and would be found in every text; mend the term.')
    return Term(
        name={"en": read.en, "ru": read.ru},
        abbreviations={"en": tuple(read.abbr_en), "ru": tuple(read.abbr_ru)},
        also={"en": tuple(read.also_en), "ru": tuple(read.also_ru)},
        source=read.source,
        clause=_read_clause(where, read.clause) if read.clause else None,
        line=line,
    )


def _read_clause(where: str, text: str) -> ClauseId:
    try:
        return listed_clause(text, EDITION)
    except UnknownClause as error:
        raise BookError(f"{where}: {error}") from error


def _check_names(path: Path, terms: tuple[Term, ...]) -> None:
    """No two terms may have the same name, also to the stemmer: the second would never be found."""
    for lang in LANGUAGES:
        first: dict[tuple[str, ...], Term] = {}
        for term in terms:
            other = first.setdefault(stems(term.name[lang]), term)
            if other is not term:
                raise BookError(
                    f'{path.name}:{term.line}: the name "{term.name[lang]}" is taken by the term of line {other.line} '
                    f'("{other.name[lang]}"); give it another one, or make it a synonym there.'
                )


def stems(text: str) -> tuple[str, ...]:
    """The stemmed words of a text, by which the forms of terms are compared and found."""
    return tuple(stem(word) for word in split_words(text))


def translate_terms(text: str, source: str, target: str) -> str:
    """The names, in the target language, of the terms that the text contains.

    Abbreviations of either language are found as written, all else by stems: the longest forms first, then by place.
    """
    said = stems(_abbreviated(source)(text))
    forms = _forms(source, target)
    taken = [False] * len(said)
    found: list[str] = []
    for size in range(max(map(len, forms)), 0, -1):
        for start in range(len(said) - size + 1):
            name = forms.get(said[start : start + size])
            if name is not None and not any(taken[start : start + size]):
                taken[start : start + size] = [True] * size
                found.append(name)
    return " ".join(dict.fromkeys(found))


def with_terms(text: str, lang: str, book_lang: str) -> str:
    """The text to search with: for a book in another language that has terms, followed by those that the text contains."""
    terms = translate_terms(text, lang, book_lang) if lang != book_lang and book_lang in LANGUAGES else ""
    return f"{text} ({terms})" if terms else text


@lru_cache(maxsize=4)
def _forms(source: str, target: str) -> dict[tuple[str, ...], str]:
    """The stems of each form in the source language -> the name in the target language; names win, then the first named."""
    terms = read_terms()
    forms: dict[tuple[str, ...], str] = {}
    for term in terms:
        forms[stems(term.name[source])] = term.name[target]
    for term in terms:
        for form in term.also[source]:
            forms.setdefault(stems(form), term.name[target])
    return forms


@lru_cache(maxsize=2)
def _abbreviated(lang: str) -> Callable[[str], str]:
    """A function that puts the names, in the language, in the place of a text's abbreviations."""
    names = {short: term.name[lang] for term in read_terms() for shorts in term.abbreviations.values() for short in shorts}
    if not names:
        return lambda text: text
    any_of = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})(?!\w)")
    return lambda text: any_of.sub(lambda match: names[match[0]], text)
