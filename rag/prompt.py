"""Prompts from ``prompts/*.yaml``: validated when loaded, filled with data that cannot act as an instruction token."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.meta
import yaml

import prompts
from index.errors import ContractError
from index.types import Book, Clause

FOLDER = Path(prompts.__file__).resolve().parent
_VARIABLES: dict[str, set[str]] = {
    "system": set(),
    "user": {"laws", "earlier", "question"},
    "grammar": {"ids"},
}
_ENVIRONMENT = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=False)  # noqa: S701
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Prompt:
    """One prompt as it is sent: the two messages, the grammar (GBNF) that binds the answer, and the ids it may cite."""

    system: str
    user: str
    grammar: str
    ids: tuple[str, ...]


def answer_prompt(book: Book, clauses: Sequence[Clause], question: str, earlier: Sequence[str] = ()) -> Prompt:
    """The prompt that asks for an answer to ``question`` from these clauses, in the language of the book."""
    templates = _load("answer.yaml")
    laws = []
    shown = ""
    for clause in clauses:
        law = book.heading_path(clause).split(" > ")[0]
        laws.append({"id": str(clause.id), "law": _inert(law) if law != shown else "", "text": _inert(_flat(clause.text))})
        shown = law
    ids = tuple(law["id"] for law in laws)
    told = _inert(" / ".join(map(_flat, earlier)))
    return Prompt(
        system=_fill(templates["system"][book.lang]).strip(),
        user=_fill(templates["user"][book.lang], laws=laws, earlier=told, question=_inert(_flat(question))).strip(),
        grammar=_fill(templates["grammar"], ids=ids),
        ids=ids,
    )


@lru_cache(maxsize=8)
def _load(name: str) -> dict[str, Any]:
    """Read and validate one prompt file. Raises `ContractError` naming the file and what is wrong in it."""
    try:
        data: dict[str, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
        if set(data["system"]) != set(data["user"]):
            raise ContractError(f"prompts/{name}: system and user must be there in the same languages.")
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
