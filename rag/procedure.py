"""Ruling procedures: decision trees over facts, one YAML file an irregularity (format: ``procedures/README.md``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError

from index.books import listed_clause
from index.errors import ContractError, UnknownClause
from index.strict_yaml import StrictLoader
from rag.ruling import Part

FOLDER = Path(__file__).resolve().parent / "procedures"
FACTS = "facts.yaml"
LINK = "->"
"""A target that begins so is another procedure, not a node or leaf of this one."""


class Words(BaseModel, extra="forbid", frozen=True):
    """A text in both languages."""

    en: Annotated[str, Field(min_length=1)]
    ru: Annotated[str, Field(min_length=1)]

    def of(self, lang: str) -> str:
        """The text in a language; English for one that there is none in."""
        return str(getattr(self, lang, self.en))


class Phrases(BaseModel, extra="forbid", frozen=True):
    """Example phrases in both languages, as people tell it."""

    en: Annotated[list[str], Field(min_length=1)]
    ru: Annotated[list[str], Field(min_length=1)]


class Option(BaseModel, extra="forbid", frozen=True):
    """One value of a fact: its button, and how it is told in a story."""

    id: str
    label: Words
    examples: Phrases


class Fact(BaseModel, extra="forbid", frozen=True):
    """A fact that rulings hang on: the question to the director, why it matters, and its exclusive options."""

    id: str
    question: Words
    why: Words
    options: Annotated[list[Option], Field(min_length=2)]

    def has(self, option: str) -> bool:
        """Whether the fact has an option of that id."""
        return any(one.id == option for one in self.options)


class Node(BaseModel, extra="forbid", frozen=True):
    """A question of the tree: the fact, and for each of its options what follows.

    ``presume`` is the option taken when the story is silent, shown as presumed: only where anything else would be told.
    """

    fact: str
    to: dict[str, str]
    presume: str | None = None


class Said(BaseModel, extra="forbid", frozen=True):
    """One sentence of a ruling and the clauses that carry it."""

    part: Part
    cites: Annotated[list[str], Field(min_length=1)]
    en: Annotated[str, Field(min_length=1)]
    ru: Annotated[str, Field(min_length=1)]


class Leaf(BaseModel, extra="forbid", frozen=True):
    """The end of a path: what is ruled; ``then``, the procedures that follow; ``sets``, the facts made known to them."""

    kind: Literal["book", "judgement"]
    cites: Annotated[list[str], Field(min_length=1)]
    sentences: Annotated[list[Said], Field(min_length=1)]
    then: list[str] = []
    sets: dict[str, str] = {}


class Procedure(BaseModel, extra="forbid", frozen=True):
    """A decision tree for one irregularity."""

    id: str
    edition: str
    title: Words
    laws: Annotated[list[str], Field(min_length=1)]
    kind: Literal["book", "judgement", "mixed"]
    recognise: Phrases
    start: str
    nodes: dict[str, Node]
    leaves: Annotated[dict[str, Leaf], Field(min_length=1)]

    def targets(self) -> Iterator[str]:
        """Every target of every node, and the start."""
        yield self.start
        for node in self.nodes.values():
            yield from node.to.values()


@lru_cache(maxsize=1)
def read_facts() -> Mapping[str, Fact]:
    """All facts by id. Raises `ContractError` with file and line."""
    data, where = _load(FOLDER / FACTS)
    facts: dict[str, Fact] = {}
    for number, row in enumerate(data):
        fact = _validate(Fact, row, where, (number,))
        if fact.id in facts:
            raise ContractError(f"{where.at((number,))}: the fact {fact.id} stands twice.")
        facts[fact.id] = fact
    return facts


@lru_cache(maxsize=1)
def read_procedures() -> Mapping[str, Procedure]:
    """All procedures by id, checked with the facts and with each other. Raises `ContractError` with file and line."""
    procedures: dict[str, Procedure] = {}
    places: dict[str, _Places] = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.name == FACTS:
            continue
        data, where = _load(path)
        procedure = _validate(Procedure, data, where, ())
        if procedure.id != path.stem:
            raise ContractError(f"{where.at(('id',))}: the procedure {procedure.id} must stand in {procedure.id}.yaml.")
        procedures[procedure.id], places[procedure.id] = procedure, where
    for procedure in procedures.values():
        _check(procedure, procedures, places[procedure.id])
    _check_no_circle(procedures)
    return procedures


def find_procedure(procedure_id: str) -> Procedure:
    """The procedure of that id. Raises `ContractError` when there is none."""
    procedures = read_procedures()
    if procedure_id not in procedures:
        raise ContractError(f'There is no procedure "{procedure_id[:40]}"; see: tablelaw procedure list')
    return procedures[procedure_id]


class _Places:
    """Where the parts of a YAML file stand."""

    def __init__(self, path: Path, root: yaml.Node) -> None:
        self._path, self._root = path, root

    def at(self, keys: tuple[str | int, ...]) -> str:
        """``file:line`` of the part under these keys, or of the nearest above it."""
        node = self._root
        for key in keys:
            below = None
            if isinstance(node, yaml.MappingNode):
                below = next((value for name, value in node.value if name.value == str(key)), None)
            elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
                below = node.value[key]
            if below is None:
                break
            node = below
        return f"{self._path.name}:{node.start_mark.line + 1}"


def _load(path: Path) -> tuple[Any, _Places]:
    try:
        text = path.read_text(encoding="utf-8")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            raise ContractError(f"{path.name} is empty; restore the file.")
        return yaml.load(text, Loader=StrictLoader), _Places(path, root)  # noqa: S506 - makes strings only
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ContractError(f"{path.name} cannot be read ({error}); restore the file.") from error


def _validate(kind: type[Any], data: Any, where: _Places, keys: tuple[str | int, ...]) -> Any:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        loc = (*keys, *first["loc"])
        raise ContractError(f"{where.at(loc)}: {'.'.join(map(str, loc))}: {first['msg']}.") from error


def _check(procedure: Procedure, procedures: Mapping[str, Procedure], where: _Places) -> None:
    facts = read_facts()
    for name, node in procedure.nodes.items():
        place = where.at(("nodes", name))
        if node.fact not in facts:
            raise ContractError(f"{place}: there is no fact {node.fact} in {FACTS}.")
        options = {option.id for option in facts[node.fact].options}
        if set(node.to) != options:
            wrong = sorted(set(node.to) ^ options)
            raise ContractError(f"{place}: the options of {node.fact} are {sorted(options)}; missing or unknown: {wrong}.")
        if node.presume is not None and node.presume not in options:
            raise ContractError(f"{place}: {node.fact} has no option {node.presume} to presume.")
    places: list[tuple[tuple[str, ...], str]] = [(("start",), procedure.start)]
    places += [(("nodes", name), target) for name, node in procedure.nodes.items() for target in node.to.values()]
    for keys, target in places:
        is_link = target.startswith(LINK)
        if target[len(LINK) :] not in procedures if is_link else target not in {*procedure.nodes, *procedure.leaves}:
            raise ContractError(f"{where.at(keys)}: nothing is called {target}.")
    unused = (set(procedure.nodes) | set(procedure.leaves)) - set(procedure.targets())
    if unused:
        raise ContractError(f"{where.at(('leaves', min(unused)))}: no path leads to {', '.join(sorted(unused))}.")
    for name, leaf in procedure.leaves.items():
        _check_leaf(procedure, leaf, procedures, where.at(("leaves", name)))


def _check_no_circle(procedures: Mapping[str, Procedure]) -> None:
    """Walks end: no path comes back to a node, through links to other procedures neither."""
    done: set[tuple[str, str]] = set()

    def visit(procedure: Procedure, at: str, above: tuple[tuple[str, str], ...]) -> None:
        if at.startswith(LINK):
            other = procedures[at[len(LINK) :]]
            procedure, at = other, other.start
        here = (procedure.id, at)
        if here in above:
            raise ContractError(
                f"{procedure.id}.yaml: a path comes back to {at}: {' > '.join(':'.join(one) for one in above)}."
            )
        if here in done or at not in procedure.nodes:
            return
        for target in procedure.nodes[at].to.values():
            visit(procedure, target, (*above, here))
        done.add(here)

    for procedure in procedures.values():
        visit(procedure, procedure.start, ())


def _check_leaf(procedure: Procedure, leaf: Leaf, procedures: Mapping[str, Procedure], place: str) -> None:
    try:
        for clause in leaf.cites:
            listed_clause(clause, procedure.edition)
    except UnknownClause as error:
        raise ContractError(f"{place}: {error}") from error
    cited = {clause for sentence in leaf.sentences for clause in sentence.cites}
    if cited != set(leaf.cites):
        raise ContractError(f"{place}: cites and those of its sentences differ: {sorted(cited ^ set(leaf.cites))}.")
    facts = read_facts()
    for fact, option in leaf.sets.items():
        if fact not in facts or not facts[fact].has(option):
            raise ContractError(f"{place}: there is no {fact}: {option} in {FACTS}.")
    missing = [name for name in leaf.then if name not in procedures]
    if missing:
        raise ContractError(f"{place}: there is no procedure {missing[0]}.")
