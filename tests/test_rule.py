from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from index.errors import ContractError
from rag import procedure as procedures
from rag.procedure import read_facts, read_procedures
from rag.rule import rule
from rag.ruled import to_ruling

FACTS = """
- id: spilled
  question: {en: "Has tea been spilled?", ru: "Пролили чай?"}
  why: {en: "Wet cards are replaced.", ru: "Мокрые карты меняют."}
  options:
    - {id: "yes", label: {en: "Yes", ru: "Да"}, examples: {en: ["all wet"], ru: ["мокро"]}}
    - {id: "no", label: {en: "No", ru: "Нет"}, examples: {en: ["dry"], ru: ["сухо"]}}
- id: who
  question: {en: "Who spilled it?", ru: "Кто пролил?"}
  why: {en: "They bring a new deck.", ru: "Тот несёт новую колоду."}
  options:
    - {id: north, label: {en: "North", ru: "Север"}, examples: {en: ["N did"], ru: ["Север"]}}
    - {id: south, label: {en: "South", ru: "Юг"}, examples: {en: ["S did"], ru: ["Юг"]}}
"""
TEA = """
id: tea
edition: "2017"
title: {en: "Tea on the table", ru: "Чай на столе"}
laws: ["1"]
kind: mixed
recognise: {en: ["tea everywhere"], ru: ["чай повсюду"]}
start: n1
nodes:
  n1: {fact: spilled, to: {"yes": n2, "no": "->dry"}}
  n2: {fact: who, presume: south, to: {north: new-deck, south: judge}}
leaves:
  new-deck:
    kind: book
    cites: ["1A", "2"]
    then: [dry]
    sets: {spilled: "no"}
    sentences:
      - {part: now, cites: ["1A"], en: "A new deck is brought.", ru: "Приносят новую колоду."}
      - {part: say, cites: ["2"], en: "Please wait.", ru: "Подождите."}
  judge:
    kind: judgement
    cites: ["12C1"]
    sentences:
      - {part: now, cites: ["12C1"], en: "Record how wet it is.", ru: "Запишите, насколько мокро."}
"""
DRY = """
id: dry
edition: "2017"
title: {en: "Dry table", ru: "Сухой стол"}
laws: ["2"]
kind: book
recognise: {en: ["nothing happened"], ru: ["ничего"]}
start: n1
nodes:
  n1: {fact: spilled, to: {"yes": go-on, "no": go-on}}
leaves:
  go-on:
    kind: book
    cites: ["2"]
    sentences:
      - {part: now, cites: ["2"], en: "Play on.", ru: "Играйте дальше."}
"""
Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Puts invented procedures in the place of the bundled ones."""
    monkeypatch.setattr(procedures, "FOLDER", tmp_path)
    monkeypatch.setattr("rag.procedure.FOLDER", tmp_path)

    def put(facts: str = FACTS, tea: str = TEA, dry: str = DRY) -> None:
        read_facts.cache_clear()
        read_procedures.cache_clear()
        for name, text in (("facts", facts), ("tea", tea), ("dry", dry)):
            (tmp_path / f"{name}.yaml").write_text(text.lstrip("\n"), encoding="utf-8")

    yield put
    read_facts.cache_clear()
    read_procedures.cache_clear()


def test_the_first_fact_that_is_not_known_is_asked(write: Write) -> None:
    write()
    ruling = to_ruling(rule("tea", {}), "ru")
    assert (ruling.status, ruling.answer) == ("ask", "Пролили чай?")
    assert [(ask.fact, ask.options) for ask in ruling.ask] == [("spilled", ("yes", "no"))]
    assert ruling.sentences == ()


def test_a_presumed_fact_is_taken_and_told_so_but_what_is_stated_wins(write: Write) -> None:
    write()
    presumed, stated = rule("tea", {"spilled": "yes"}), rule("tea", {"spilled": "yes", "who": "north"})
    assert [(step.fact, step.known.option, step.known.source) for step in presumed.path] == [
        ("spilled", "yes", "stated"),
        ("who", "south", "presumed"),
    ]
    assert to_ruling(presumed, "en").status == "judgement"
    assert to_ruling(stated, "en").status == "ruling"
    assert to_ruling(stated, "en").answer == "A new deck is brought."


def test_a_link_goes_on_in_another_procedure_without_asking_twice(write: Write) -> None:
    write()
    outcome = rule("tea", {"spilled": "no"})
    assert outcome.procedure.id == "dry"
    assert [step.fact for step in outcome.path] == ["spilled"]
    assert to_ruling(outcome, "en").answer == "Play on."


def test_what_follows_knows_what_the_ruling_before_set(write: Write) -> None:
    write()
    ruling = to_ruling(rule("tea", {"spilled": "yes", "who": "north"}), "en")
    (second,) = ruling.then
    assert (second.status, second.answer) == ("ruling", "Play on.")
    assert second.procedure == {
        "id": "dry",
        "facts": {"spilled": {"value": "no", "from": "read", "confidence": 1.0}},
        "path": ["spilled"],
    }
    assert [law.id for law in ruling.laws] == ["1A", "2"]


@pytest.mark.parametrize(
    ("name", "facts", "message"),
    [
        ("coffee", {}, 'There is no procedure "coffee"'),
        ("tea", {"colour": "red"}, 'There is no fact "colour"'),
        ("tea", {"spilled": "maybe"}, 'spilled cannot be "maybe"; it is one of: yes, no'),
    ],
)
def test_what_is_unknown_is_told_in_a_sentence(write: Write, name: str, facts: dict[str, str], message: str) -> None:
    write()
    with pytest.raises(ContractError, match=message):
        rule(name, facts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fact: who", "fact: whom"), r"tea\.yaml:10: there is no fact whom"),
        (("north: new-deck, ", ""), r"tea\.yaml:10: the options of who are .*missing or unknown: \['north'\]"),
        (("presume: south", "presume: west"), r"tea\.yaml:10: who has no option west"),
        (('"no": "->dry"', '"no": "->wet"'), r"tea\.yaml:9: nothing is called ->wet"),
        (("south: judge", "south: new-deck"), r"tea\.yaml:\d+: no path leads to judge"),
        (('cites: ["1A", "2"]', 'cites: ["1A"]'), r"tea\.yaml:\d+: cites and those of its sentences differ: \['2'\]"),
        (('"12C1"]\n    sent', '"12Q"]\n    sent'), r"tea\.yaml:\d+: the Laws of 2017 have no clause 12Q"),
        (("then: [dry]", "then: [rain]"), r"tea\.yaml:\d+: there is no procedure rain"),
        (("part: say", "part: sing"), r"tea\.yaml:19: leaves\.new-deck\.sentences\.1\.part"),
        (("kind: mixed", "kind: mixed\ncolour: red"), r"tea\.yaml:\d+: colour: Extra inputs"),
        (("id: tea", "id: tee"), r"tea\.yaml:1: the procedure tee must stand in tee\.yaml"),
    ],
)
def test_a_fault_is_told_with_file_and_line(write: Write, change: tuple[str, str], message: str) -> None:
    assert change[0] in TEA
    write(tea=TEA.replace(*change))
    with pytest.raises(ContractError, match=message):
        read_procedures()


def test_a_leaf_that_stands_twice_is_not_lost_silently(write: Write) -> None:
    write(dry=DRY + DRY[DRY.index("  go-on:") :])
    with pytest.raises(ContractError, match=r"dry\.yaml cannot be read .*the key go-on stands twice"):
        read_procedures()


def test_paths_do_not_run_in_circles(write: Write) -> None:
    write(dry=DRY.replace('"yes": go-on', '"yes": "->tea"'))
    with pytest.raises(ContractError, match="a path comes back to n1"):
        read_procedures()


def test_the_bundled_procedures_are_whole_and_every_leaf_can_be_ruled_in_both_languages() -> None:
    bundled = read_procedures()
    assert len(bundled) >= 38
    reached = set()
    for name, procedure in bundled.items():
        for facts in _paths(procedure, procedure.start, {}):
            outcome = rule(name, facts)
            assert outcome.leaf is not None or outcome.ask is not None
            if outcome.procedure is procedure and outcome.leaf is not None:
                reached.add((name, next(k for k, leaf in procedure.leaves.items() if leaf is outcome.leaf)))
    assert reached == {(name, leaf) for name, procedure in bundled.items() for leaf in procedure.leaves}
    for procedure in bundled.values():
        for leaf in procedure.leaves.values():
            order = [said.part for said in leaf.sentences]
            assert order == sorted(order, key=["now", "options", "later", "say"].index)


def _paths(procedure: procedures.Procedure, at: str, facts: dict[str, str]) -> list[dict[str, str]]:
    """The facts along every path of a procedure (one path for each way to a node is enough: the first)."""
    if at not in procedure.nodes:
        return [facts]
    node = procedure.nodes[at]
    options = [facts[node.fact]] if node.fact in facts else list(node.to)
    return [path for option in options for path in _paths(procedure, node.to[option], {**facts, node.fact: option})]


def test_a_judgement_leaf_names_the_right_to_appeal_and_is_no_ruling() -> None:
    leaves = [(p.id, leaf) for p in read_procedures().values() for leaf in p.leaves.values() if leaf.kind == "judgement"]
    assert leaves
    for name, leaf in leaves:
        assert {"92A", "83", "92"} & set(leaf.cites), name
