"""Gold rulings: questions with what a right answer must cite and say; read and validated (how-to: ``gold/README.md``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from index.books import listed_clause
from index.clause_id import ClauseId, parse_clause_id
from index.errors import ContractError, UnknownClause, first_fault
from index.json_lines import numbered_lines

FOLDER = Path(__file__).resolve().parent / "gold"
SPLITS = FOLDER / "splits.yaml"
Split = Literal["train", "dev", "test"]


def _regex(text: str) -> str:
    try:
        re.compile(text, re.IGNORECASE)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from error
    return text


Regex = Annotated[str, AfterValidator(_regex)]
Sets = Annotated[list[Annotated[list[str], Field(min_length=1)]], Field()]


class Gold(BaseModel, extra="forbid", frozen=True):
    """One gold ruling.

    ``must_cite`` is a list of sets of alternatives: of each set an answer cites at least one id. ``say`` likewise: of each set
    of regular expressions one matches a right answer (case ignored); ``never_say`` matches wrong ones. ``answerable`` is
    ``needs-fact`` where the ruling hangs on a fact that was not told, ``no`` where the Laws do not answer; a false premise is
    ``no`` with the clause in ``must_cite`` that says otherwise. ``procedure``: those by any of which it is rightly ruled, the
    best first (none: no procedure covers it); ``facts``: what the question states of their facts; ``asks``: the facts any of
    which is the missing one; ``then``: the procedure of a second irregularity in the same story.
    """

    id: str
    lang: Literal["en", "ru"]
    book: str
    question: Annotated[str, Field(min_length=8, max_length=1500)]
    topic: str
    family: str
    kind: Literal["book", "judgement"]
    must_cite: Sets
    may_cite: list[str]
    never_cite: list[str]
    say: list[Annotated[list[Regex], Field(min_length=1)]]
    never_say: list[Regex]
    answerable: Literal["yes", "no", "needs-fact"]
    missing_fact: str
    difficulty: Literal["easy", "medium", "hard"]
    why: str
    procedure: list[str] = []
    facts: dict[str, str] = {}
    asks: list[str] = []
    then: str = ""

    @property
    def must(self) -> tuple[frozenset[ClauseId], ...]:
        """The sets of alternatives, as clause ids."""
        return tuple(frozenset(map(parse_clause_id, alternatives)) for alternatives in self.must_cite)

    @property
    def is_uncovered(self) -> bool:
        """Whether the Laws say nothing of it: then it is to be refused."""
        return self.answerable == "no" and not self.must_cite

    @property
    def good_cites(self) -> frozenset[ClauseId]:
        """What an answer may cite: every alternative of ``must_cite``, and ``may_cite``."""
        return frozenset[ClauseId]().union(*self.must, map(parse_clause_id, self.may_cite))

    @property
    def is_false_premise(self) -> bool:
        """Whether a clause says otherwise than the question takes for granted."""
        return self.answerable == "no" and bool(self.must_cite)


def read_gold(files: Iterable[Path] | None = None) -> tuple[Gold, ...]:
    """All gold rulings of the files (the bundled ones by default), checked. Raises `ContractError` with file and line."""
    found: dict[str, Gold] = {}
    for path in files if files is not None else sorted(FOLDER.glob("*.jsonl")):
        for number, line in numbered_lines(path, partial(_unreadable, path)):
            gold = _read_line(line, f"{path.name}:{number}")
            if gold.id in found:
                raise ContractError(f"{path.name}:{number}: the id {gold.id} stands twice.")
            found[gold.id] = gold
    return tuple(found.values())


def _unreadable(path: Path, reason: str) -> ContractError:
    return ContractError(f"{path} cannot be read ({reason}); name a UTF-8 file of JSON lines.")


def _read_line(line: str, where: str) -> Gold:
    try:
        gold = Gold.model_validate_json(line)
    except ValidationError as error:
        raise ContractError(f"{where}: {first_fault(error)}") from error
    edition = gold.book.split("-")[1] if "-" in gold.book else ""
    ids = [clause for alternatives in gold.must_cite for clause in alternatives]
    try:
        for clause in (*ids, *gold.may_cite, *gold.never_cite):
            listed_clause(clause, edition)
    except UnknownClause as error:
        raise ContractError(f"{where}: {error}") from error
    if gold.answerable == "yes" and not gold.must_cite:
        raise ContractError(f"{where}: {gold.id} is answerable but must cite nothing.")
    if gold.answerable == "needs-fact" and not gold.missing_fact:
        raise ContractError(f"{where}: {gold.id} needs a fact but does not say which.")
    return gold


@lru_cache(maxsize=1)
def read_splits() -> dict[str, Split]:
    """Family -> split. A family is whole in one split, so that no situation of dev or test is trained on."""
    try:
        data = yaml.safe_load(SPLITS.read_text(encoding="utf-8"))
        return {family: split for split in ("train", "dev", "test") for family in data[split]}
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise ContractError(f"{SPLITS.name} is damaged ({error}); restore the file.") from error


def of_split(gold: Sequence[Gold], split: Split) -> tuple[Gold, ...]:
    """The rulings of one split."""
    splits = read_splits()
    return tuple(one for one in gold if splits.get(one.family) == split)


def to_line(gold: Gold) -> str:
    """The JSON line of a ruling, as it stands in a file."""
    return json.dumps(gold.model_dump(exclude_defaults=False), ensure_ascii=False)
