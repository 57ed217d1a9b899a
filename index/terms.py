"""The one list of terms (``books/terms.yaml``): English, Russian, synonyms; and its use across languages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import yaml

from index import paths
from index.bm25 import split_words, stem
from index.errors import BookError


@dataclass(frozen=True)
class Term:
    """One term of the Laws: its name in each language, and what people say instead."""

    name: dict[str, str]
    also: dict[str, tuple[str, ...]]
    is_new: bool


@lru_cache(maxsize=1)
def read_terms() -> tuple[Term, ...]:
    """All terms. Raises `BookError` when the file is damaged."""
    path = paths.bundled_books_dir() / "terms.yaml"
    try:
        rows = yaml.safe_load(path.read_text(encoding="utf-8"))
        return tuple(
            Term(
                {lang: str(row[lang]) for lang in ("en", "ru")},
                {lang: _synonyms(row.get(f"also_{lang}", [])) for lang in ("en", "ru")},
                bool(row.get("new")),
            )
            for row in rows
        )
    except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError) as error:
        raise BookError(f"{path.name} is damaged ({error!r}); restore the file.") from error


def _synonyms(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return tuple(map(str, value))


def translate_terms(text: str, source: str, target: str) -> str:
    """The names, in the target language, of the terms that the text contains; matched by stems, longest phrase first."""
    stems = [stem(word) for word in split_words(text)]
    taken = [False] * len(stems)
    found: list[str] = []
    for phrase, name in _phrases(source, target):
        for start in range(len(stems) - len(phrase) + 1):
            span = slice(start, start + len(phrase))
            if tuple(stems[span]) == phrase and not any(taken[span]):
                taken[span] = [True] * len(phrase)
                found.append(name)
    return " ".join(dict.fromkeys(found))


@lru_cache(maxsize=4)
def _phrases(source: str, target: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    terms = read_terms()
    named = [(term.name[source], term.name[target]) for term in terms]
    named += [(form, term.name[target]) for term in terms for form in term.also[source]]
    pairs = [(tuple(stem(word) for word in split_words(form)), name) for form, name in named]
    return tuple(sorted(pairs, key=lambda pair: -len(pair[0])))  # stable: a name wins over a synonym of another
