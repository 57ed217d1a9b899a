"""Prompts from ``prompts/*.yaml``: validated when loaded, filled with data that cannot act as an instruction token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import yaml

import prompts
from index.errors import ContractError
from index.types import Book, Clause
from rag.cite import offers
from rag.strings import FALLBACK

FOLDER = Path(prompts.__file__).resolve().parent
_VARIABLES: dict[str, set[str]] = {
    "system": set(),
    "law": {"laws"},
    "question": {"laws", "earlier", "question"},
    "grammar": {"lines"},
}
_ENVIRONMENT = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True)  # noqa: S701
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


@dataclass(frozen=True)
class Prompt:
    """One prompt as it is sent.

    What repeats comes first: ``system``, then ``law``, the Law that is most likely to decide, whole; ``question`` is the rest
    of the user's message. ``lines`` are all that may be written: a sentence of a clause and its id in brackets; ``grammar``
    (GBNF) says the same to a server. ``short`` is the same without the Law, for a machine that is too slow to read it.
    """

    system: str
    law: str
    question: str
    lines: tuple[str, ...]
    grammar: str
    short: Prompt | None = None

    @property
    def user(self) -> str:
        """The user's message."""
        return "\n".join(part for part in (self.law, self.question) if part)


@dataclass(frozen=True)
class Material:
    """What an answer is made from: ``law`` is the Law put first, whole; ``clauses`` are those that may be quoted."""

    law: Sequence[Clause]
    clauses: Sequence[Clause]


def answer_prompt(book: Book, material: Material, question: str, earlier: Sequence[str] = ()) -> Prompt:
    """The prompt that asks for an answer to ``question``, in the language of the book, or else in English."""
    templates, lang = _load("answer.yaml"), _language(book)
    first = {clause.id for clause in material.law}
    others = [clause for clause in material.clauses if clause.id not in first]
    lines = tuple(_line(sentence.text, sentence.cites[0]) for sentence in offers(material.clauses))
    whole = Prompt(
        system=system_prompt(book),
        law=_fill(templates["law"][lang], laws=_by_law(book, material.law)).strip(),
        question=_fill(
            templates["question"][lang],
            laws=_by_law(book, others),
            earlier=_inert(" / ".join(map(_flat, earlier))),
            question=_inert(_flat(question)),
        ).strip(),
        lines=lines,
        grammar=_fill(templates["grammar"], lines=[line.translate(_ESCAPES) for line in lines]),
    )
    if not material.law:
        return whole
    return replace(whole, short=answer_prompt(book, replace(material, law=()), question, earlier))


def system_prompt(book: Book) -> str:
    """What every prompt for a book begins with."""
    return _fill(_load("answer.yaml")["system"][_language(book)]).strip()


def _language(book: Book) -> str:
    return book.lang if book.lang in _load("answer.yaml")["system"] else FALLBACK


def _line(text: str, clause: str) -> str:
    return f"{_inert(_flat(text))} [{clause}]"


def _by_law(book: Book, clauses: Sequence[Clause]) -> list[dict[str, Any]]:
    """Clauses that have a text under the headings of their Laws."""
    found = []
    with_text = (clause for clause in clauses if clause.text)
    for heading, of_one in groupby(with_text, key=lambda clause: book.heading_path(clause).split(" > ")[0]):
        found.append({"heading": _inert(heading), "lines": [_line(clause.text, str(clause.id)) for clause in of_one]})
    return found


@lru_cache(maxsize=8)
def _load(name: str) -> dict[str, Any]:
    """Read and validate one prompt file. Raises `ContractError` naming the file and what is wrong in it."""
    try:
        data: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
        if not set(data["system"]) == set(data["law"]) == set(data["question"]):
            raise ContractError(f"prompts/{name}: system, law and question must be there in the same languages.")
        for part, allowed in _VARIABLES.items():
            texts = data[part].values() if isinstance(data[part], dict) else [data[part]]
            for text in texts:
                used = jinja2.meta.find_undeclared_variables(_ENVIRONMENT.parse(text))
                if used != allowed:
                    raise ContractError(f"prompts/{name}: {part} uses {sorted(used)}, it must use {sorted(allowed)}.")
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError, jinja2.TemplateError) as error:
        raise ContractError(f"prompts/{name} is damaged ({error}); restore the file.") from error
    return data


def _fill(template: str, **values: Any) -> str:
    return _ENVIRONMENT.from_string(template).render(**values)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _inert(text: str) -> str:
    """Data as plain text: control characters out, and no character run that a chat template reads as a control token."""
    return _CONTROL.sub(" ", text).replace("<|", "< |").replace("|>", "| >").strip()
