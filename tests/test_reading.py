from __future__ import annotations

import pytest

from rag.reading import Reading
from rag.rule import Known, Outcome, rule
from tests.invented import LIMITS, reading

TOLD = {"yes": 0.875, "no": 0.0625}


pytestmark = pytest.mark.usefixtures("invented")


def path(outcome: Outcome) -> list[tuple[str, Known]]:
    return [(step.fact, step.known) for step in outcome.path]


def test_irregularities_come_by_likelihood_with_none_of_them_among_them() -> None:
    told = reading({"tea": 0.125, "fire": 0.5, "dry": 0.0625})
    assert told.irregularities()[:4] == (("fire", 0.5), ("", 0.3125), ("tea", 0.125), ("dry", 0.0625))
    assert {name for name, _ in told.irregularities()} == {"tea", "dry", "mop", "fire", "noise", ""}


def test_a_procedure_that_is_gone_since_the_training_is_not_offered() -> None:
    told = Reading({"irregularity": {"flood": 0.75, "tea": 0.25, "": 0.0}}, LIMITS)
    assert told.irregularities() == (("tea", 0.25), ("", 0.0))


@pytest.mark.parametrize(
    ("chances", "told"),
    [
        ({"yes": 0.75}, ("yes", 0.75)),
        ({"no": 0.875, "yes": 0.125}, ("no", 0.875)),
        ({"yes": 0.74}, None),
        ({"yes": 0.5, "no": 0.5}, None),
        ({}, None),
    ],
)
def test_a_fact_is_taken_from_its_threshold_on(chances: dict[str, float], told: tuple[str, float] | None) -> None:
    assert reading(spilled=chances).fact("spilled") == told


def test_that_a_fact_is_not_stated_is_no_fact_however_sure() -> None:
    assert Reading({"spilled": {"yes": 0.0, "no": 0.0, "": 1.0}}, LIMITS).fact("spilled") is None


def test_an_option_that_is_gone_since_the_training_is_not_taken() -> None:
    told = Reading({"who": {"west": 0.9, "north": 0.1, "": 0.0}}, LIMITS)
    assert told.fact("who") is None
    assert not told.may_presume("who", "south")


def test_a_fact_that_the_heads_were_not_taught_is_not_told_and_may_be_presumed() -> None:
    told = Reading({"irregularity": {"": 1.0}}, LIMITS)
    assert told.fact("who") is None
    assert told.may_presume("who", "south")


@pytest.mark.parametrize(
    ("chances", "may"),
    [
        ({"north": 0.375}, True),  # 0.625 that it is not stated
        ({"north": 0.376}, False),
        ({"north": 0.375, "south": 0.5}, True),  # 0.125 not stated, 0.5 for what would be presumed
        ({"north": 0.5, "south": 0.5}, False),
        ({"south": 1.0}, True),
        ({}, True),
    ],
)
def test_south_is_presumed_unless_the_story_seems_to_tell_another(chances: dict[str, float], may: bool) -> None:
    assert reading(who=chances).may_presume("who", "south") is may


def test_what_a_story_tells_is_ruled_by_with_its_confidence() -> None:
    outcome = rule("tea", {}, reading(spilled={"yes": 0.87654}, who={"north": 1.0}))
    assert path(outcome) == [("spilled", Known("yes", "read", 0.877)), ("who", Known("north", "read", 1.0))]
    assert outcome.leaf is outcome.procedure.leaves["new-deck"]


@pytest.mark.parametrize("given", ["no", Known("no", "answered"), Known("no", "changed", 0.8)])
def test_what_is_given_wins_over_what_is_read_and_keeps_how_it_is_known(given: str | Known) -> None:
    outcome = rule("tea", {"spilled": given}, reading(spilled={"yes": 1.0}))
    assert path(outcome) == [("spilled", given if isinstance(given, Known) else Known("no", "stated", 1.0))]
    assert outcome.procedure.id == "dry"


def test_what_is_read_below_the_threshold_is_asked() -> None:
    outcome = rule("tea", {}, reading(spilled={"yes": 0.7}, who={"north": 1.0}))
    assert outcome.ask is not None
    assert (outcome.ask.id, outcome.path, outcome.leaf) == ("spilled", (), None)


def test_a_fact_is_presumed_only_where_the_story_is_silent() -> None:
    silent = rule("tea", {}, reading(spilled=TOLD))
    assert path(silent)[1] == ("who", Known("south", "presumed", None))
    assert silent.leaf is silent.procedure.leaves["judge"]
    unsure = rule("tea", {}, reading(spilled=TOLD, who={"north": 0.5}))
    assert unsure.ask is not None
    assert (unsure.ask.id, [fact for fact, _ in path(unsure)]) == ("who", ["spilled"])


def test_a_fact_that_may_be_presumed_is_read_once_the_story_tells_it() -> None:
    nearly, clearly = (rule("tea", {}, reading(spilled=TOLD, who={"south": chance})) for chance in (0.7, 0.8))
    assert path(nearly)[1] == ("who", Known("south", "presumed", None))
    assert path(clearly)[1] == ("who", Known("south", "read", 0.8))


def test_without_a_story_a_fact_is_presumed_and_others_are_asked() -> None:
    assert path(rule("tea", {"spilled": "yes"}))[1] == ("who", Known("south", "presumed", None))
    asked = rule("tea", {}).ask
    assert asked is not None
    assert asked.id == "spilled"


def test_what_follows_takes_what_was_set_before_what_was_given_or_read() -> None:
    told = reading(spilled={"yes": 1.0}, who={"north": 1.0}, cloth={"no": 0.8})
    dry, mop = rule("tea", {"spilled": "yes"}, told).then
    assert path(dry) == [("spilled", Known("no", "set"))]
    assert path(mop) == [("cloth", Known("no", "read", 0.8))]
    assert mop.leaf is mop.procedure.leaves["wipe"]


def test_what_follows_asks_for_itself() -> None:
    outcome = rule("tea", {"spilled": "yes", "who": "north"}, reading(cloth={"no": 0.7}))
    assert outcome.leaf is not None
    asked = outcome.then[1].ask
    assert asked is not None
    assert asked.id == "cloth"


def test_a_fact_read_once_on_a_path_is_not_asked_again_behind_a_link() -> None:
    outcome = rule("fire", {"spilled": "yes"}, reading(who={"south": 0.9}))
    assert path(outcome) == [("who", Known("south", "read", 0.9)), ("spilled", Known("yes"))]
    assert (outcome.procedure.id, outcome.leaf) == ("tea", outcome.procedure.leaves["judge"])
