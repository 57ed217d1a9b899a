from __future__ import annotations

from collections.abc import Mapping

import pytest

from index.errors import ContractError
from rag.decide import ANSWER_CONFIDENCE, NONE_OF_THESE, Decided, decide
from rag.rule import From, Known
from rag.ruling import State, Turn
from tests.invented import LIMITS, Chances, Reading, heard

STORY = "Tea all over the table"
OTHER = "Now North has set the curtains at table four alight"  # ten words: a story of its own
FRESH = State("small-2017-en", "en")
TEA = {"tea": 0.75, "dry": 0.0625, "mop": 0.125, "fire": 0.03125, "noise": 0.015625}
FIRE = {"fire": 0.875, "noise": 0.0625, "dry": 0.03125}
WET = {"yes": 0.875}


pytestmark = pytest.mark.usefixtures("invented")


def put(
    text: str,
    told: Mapping[str, Chances] | None,
    state: State = FRESH,
    sources: Mapping[str, From] | None = None,
    **given: str,
) -> Decided | None:
    """Decide, where heads read of each text what is ``told``, and no other text may be read; no heads for ``None``."""
    return decide(text, state, given, lambda one: None if told is None else Reading(told[one], LIMITS), sources)


def case(decided: Decided | None, *questions: str) -> State:
    """The case after these questions, carrying what was decided last."""
    assert decided is not None
    return State(FRESH.book, "en", tuple(Turn(one, "so", ()) for one in questions), dict(decided.facts), decided.story)


def path(decided: Decided | None) -> dict[str, Known]:
    assert decided is not None
    assert decided.outcome is not None
    return {step.fact: step.known for step in decided.outcome.path}


def asked(decided: Decided | None) -> str | None:
    """The fact that is asked."""
    assert decided is not None
    assert decided.outcome is not None
    return decided.outcome.ask.id if decided.outcome.ask else None


def procedure(decided: Decided | None) -> str:
    assert decided is not None
    return decided.facts["irregularity"]


# A new story


def test_a_new_story_is_ruled_by_what_it_tells() -> None:
    decided = put(STORY, {STORY: heard(TEA, spilled=WET, who={"north": 0.8})})
    assert path(decided) == {"spilled": Known("yes", "read", 0.875), "who": Known("north", "read", 0.8)}
    assert decided is not None
    assert decided.facts == {"irregularity": "tea"}, "what is read is read again, not carried"


def test_the_four_likeliest_procedures_are_offered_and_none_of_them_is_not_one() -> None:
    decided = put(STORY, {STORY: heard({"tea": 0.5, "mop": 0.125, "dry": 0.0625, "fire": 0.03125, "noise": 0.015625})})
    assert decided is not None
    assert decided.candidates == ("tea", "mop", "dry", "fire")


def test_a_fact_given_with_a_story_is_stated_and_goes_on_with_the_case() -> None:
    given = {"irregularity": "tea", "spilled": "no"}
    decided = decide(STORY, FRESH, given, lambda _: Reading(heard(TEA, spilled=WET), LIMITS))
    assert path(decided) == {"spilled": Known("no", "stated", 1.0)}
    assert decided is not None
    assert decided.facts == {"irregularity": "tea", "spilled": "no"}
    assert given == {"irregularity": "tea", "spilled": "no"}, "the caller's own is left alone"


def test_how_a_given_fact_is_known_may_be_told() -> None:
    decided = put(STORY, {STORY: heard(TEA)}, sources={"spilled": "changed"}, spilled="yes", who="south")
    assert path(decided) == {"spilled": Known("yes", "changed"), "who": Known("south", "stated")}


@pytest.mark.parametrize(("chance", "is_ruled"), [(0.5, True), (0.499, False)])
def test_below_the_floor_the_irregularity_is_asked(chance: float, is_ruled: bool) -> None:
    told = {"tea": chance, "fire": 0.25, "noise": 0.125}
    decided = put(STORY, {STORY: heard(told)}, spilled="yes")
    assert decided is not None
    assert (decided.outcome is not None) is is_ruled
    assert decided.candidates == ("tea", "fire", "noise", "dry")
    assert decided.facts == {"spilled": "yes"} | ({"irregularity": "tea"} if is_ruled else {})


def test_no_procedure_rules_what_none_of_them_is_about() -> None:
    assert put("Who won?", {"Who won?": heard({"tea": 0.375})}) is None


def test_no_procedure_rules_without_heads_unless_one_is_chosen() -> None:
    assert put(STORY, None) is None
    decided = put(STORY, None, irregularity="tea", spilled="yes")
    assert path(decided) == {"spilled": Known("yes"), "who": Known("south", "presumed", None)}
    assert decided is not None
    assert decided.candidates == ("tea",)


# What is chosen


def test_the_irregularity_chosen_rules_whatever_was_read_and_leads_the_others() -> None:
    decided = put(STORY, {STORY: heard(TEA, cloth={"yes": 0.9})}, irregularity="noise")
    assert asked(decided) == "alarm"
    assert decided is not None
    assert decided.candidates == ("noise", "tea", "mop", "dry")
    assert decided.facts == {"irregularity": "noise"}


def test_the_irregularity_chosen_stands_once_among_the_candidates() -> None:
    decided = put(STORY, {STORY: heard(TEA)}, irregularity="mop")
    assert decided is not None
    assert decided.candidates == ("mop", "tea", "dry", "fire")


def test_none_of_them_lets_no_procedure_rule() -> None:
    told = {STORY: heard(TEA), "none": heard(TEA)}
    assert put(STORY, told, irregularity=NONE_OF_THESE) is None
    assert put("none", told, case(put(STORY, told), STORY), irregularity="none") is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"irregularity": "coffee"}, 'There is no procedure "coffee"; see: tablelaw procedure list'),
        ({"irregularity": "c" * 50}, f'There is no procedure "{"c" * 40}"; see: tablelaw procedure list'),
        ({"colour": "red"}, 'There is no fact "colour"; see: tablelaw procedure show ID'),
        ({"irregularity": "dry", "colour": "red"}, 'There is no fact "colour"; see: tablelaw procedure show dry'),
        ({"spilled": "maybe"}, 'spilled cannot be "maybe"; it is one of: yes, no.'),
        ({"spilled": ""}, 'spilled cannot be ""; it is one of: yes, no.'),
    ],
)
def test_what_is_unknown_is_told_in_one_sentence(given: dict[str, str], message: str) -> None:
    with pytest.raises(ContractError) as caught:
        put(STORY, {STORY: heard(TEA)}, **given)
    assert str(caught.value) == message


def test_an_empty_irregularity_is_told_too() -> None:
    with pytest.raises(ContractError, match='There is no procedure ""'):
        put(STORY, {STORY: heard(TEA)}, irregularity="")


@pytest.mark.parametrize("told", [None, {STORY: heard({})}])
def test_a_fact_is_refused_where_no_procedure_rules(told: Mapping[str, Chances] | None) -> None:
    with pytest.raises(ContractError) as caught:
        put(STORY, told, spilled="yes")
    assert str(caught.value) == 'No procedure uses the fact "spilled"; leave --fact out.'


def test_a_fact_is_refused_where_none_of_them_is_chosen() -> None:
    with pytest.raises(ContractError, match='"spilled"'):
        put(STORY, {STORY: heard(TEA)}, irregularity="none", spilled="yes")


@pytest.mark.parametrize("given", [{"colour": "red"}, {"spilled": "maybe"}])
def test_what_is_unknown_is_told_when_the_irregularity_must_be_asked_too(given: dict[str, str]) -> None:
    with pytest.raises(ContractError, match=r"colour|maybe"):
        put(STORY, {STORY: heard({"tea": 0.25, "fire": 0.25, "mop": 0.375})}, **given)


# A case that goes on


def test_a_case_keeps_its_story_and_the_facts_that_were_answered() -> None:
    told = {STORY: heard(TEA), "yes": heard({}), "North": heard({}), "And now?": heard({})}
    first = put(STORY, told)
    assert asked(first) == "spilled"
    second = put("yes", told, case(first, STORY), spilled="yes")
    assert path(second) == {"spilled": Known("yes", "answered"), "who": Known("south", "presumed", None)}
    third = put("North", told, case(second, STORY, "yes"), who="north")
    assert path(third)["who"] == Known("north", "changed"), "South was presumed"
    last = put("And now?", told, case(third, STORY, "yes", "North"))
    assert path(last) == {"spilled": Known("yes", "answered"), "who": Known("north", "answered")}
    assert last is not None
    assert last.facts == {"irregularity": "tea", "spilled": "yes", "who": "north"}
    assert last.candidates == ("tea", "mop", "dry", "fire"), "those of the story"


def test_what_the_story_told_is_still_read_when_the_case_goes_on() -> None:
    told = {STORY: heard(TEA, who={"north": 0.8}), "it has": heard({}, spilled={"yes": 0.9})}
    second = put("it has", told, case(put(STORY, told), STORY))
    assert path(second) == {"spilled": Known("yes", "answered", 0.9), "who": Known("north", "read", 0.8)}


@pytest.mark.parametrize(
    ("chances", "known"),
    [
        ({"yes": ANSWER_CONFIDENCE}, Known("yes", "answered", 0.4)),
        ({"yes": 0.45678, "no": 0.5}, Known("no", "answered", 0.5)),
        ({"yes": 0.45678}, Known("yes", "answered", 0.457)),
        ({"yes": 0.39}, None),
        ({"yes": 0.39, "no": 0.38}, None),
        ({}, None),
    ],
)
def test_a_new_text_answers_the_fact_that_was_asked(chances: dict[str, float], known: Known | None) -> None:
    told = {STORY: heard(TEA), "well": heard({}, spilled=chances)}
    second = put("well", told, case(put(STORY, told), STORY))
    assert path(second).get("spilled") == known
    assert second is not None
    assert second.facts == {"irregularity": "tea"} | ({"spilled": known.option} if known else {})


def test_a_new_text_answers_only_what_was_asked_as_easily() -> None:
    told = {STORY: heard(TEA), "well": heard({}, spilled={"yes": 0.5}, who={"north": 0.7})}
    second = put("well", told, case(put(STORY, told), STORY))
    assert path(second) == {"spilled": Known("yes", "answered", 0.5), "who": Known("south", "presumed", None)}


@pytest.mark.parametrize(("chance", "known"), [(0.75, Known("no", "changed", 0.75)), (0.74, Known("yes", "read", 0.875))])
def test_a_new_text_changes_a_fact_that_was_read(chance: float, known: Known) -> None:
    told = {STORY: heard(TEA, spilled=WET), "no": heard({}, spilled={"no": chance})}
    second = put("no", told, case(put(STORY, told), STORY))
    assert path(second)["spilled"] == known


def test_a_new_text_changes_a_fact_that_was_answered_and_one_that_was_presumed() -> None:
    told = {STORY: heard(TEA), "no": heard({}, spilled={"no": 0.8}), "North": heard({}, who={"north": 0.8123})}
    first = put(STORY, told, spilled="yes")
    assert path(put("no", told, case(first, STORY)))["spilled"] == Known("no", "changed", 0.8)
    third = put("North", told, case(first, STORY))
    assert path(third) == {"spilled": Known("yes", "answered"), "who": Known("north", "changed", 0.812)}
    assert third is not None
    assert third.facts == {"irregularity": "tea", "spilled": "yes", "who": "north"}


def test_what_is_told_again_is_no_change() -> None:
    told = {STORY: heard(TEA, spilled=WET), "yes, wet": heard({}, spilled={"yes": 1.0})}
    second = put("yes, wet", told, case(put(STORY, told), STORY))
    assert path(second)["spilled"] == Known("yes", "read", 0.875)
    answered = put("yes, wet", told, case(put(STORY, told, spilled="yes"), STORY))
    assert path(answered)["spilled"] == Known("yes", "answered", 1.0)


def test_what_is_given_wins_over_what_the_new_text_tells() -> None:
    told = {STORY: heard(TEA), "no": heard({}, spilled={"no": 1.0})}
    second = put("no", told, case(put(STORY, told, spilled="yes"), STORY), spilled="yes")
    assert path(second)["spilled"].option == "yes"


def test_a_fact_given_in_a_case_is_answered_or_changes_what_was_known() -> None:
    told = {STORY: heard(TEA), "so": heard({})}
    first = case(put(STORY, told, spilled="yes"), STORY)
    assert path(put("so", told, first, who="south"))["who"] == Known("south", "answered")
    assert path(put("so", told, first, who="north"))["who"] == Known("north", "changed"), "South was presumed"
    assert path(put("so", told, first, spilled="no"))["spilled"] == Known("no", "changed")


@pytest.mark.parametrize("given", [{"spilled": "no"}, {"spilled": "yes", "who": "north"}])
def test_a_fact_given_against_what_was_read_or_presumed_is_a_change(given: dict[str, str]) -> None:
    told = {STORY: heard(TEA, spilled=WET), "so": heard({})}
    fact = list(given)[-1]
    assert path(put("so", told, case(put(STORY, told), STORY), **given))[fact].source == "changed"


def test_a_fact_given_again_is_no_change() -> None:
    told = {STORY: heard(TEA), "so": heard({})}
    second = put("so", told, case(put(STORY, told, spilled="yes"), STORY), spilled="yes")
    assert path(second)["spilled"].source != "changed"


def test_a_case_goes_on_without_heads() -> None:
    second = put("yes", None, case(put(STORY, None, irregularity="tea"), STORY), spilled="yes")
    assert path(second)["spilled"] == Known("yes", "answered")
    assert procedure(second) == "tea"


def test_another_irregularity_keeps_the_facts_that_it_can_use_and_leaves_the_others() -> None:
    told = {STORY: heard(TEA), "so": heard({})}
    first = put(STORY, told, spilled="yes", who="north")
    second = put("so", told, case(first, STORY), irregularity="dry")
    assert path(second) == {"spilled": Known("yes", "answered")}
    assert second is not None
    assert second.facts == {"irregularity": "dry", "spilled": "yes"}
    assert second.candidates == ("dry", "tea", "mop", "fire")


def test_a_case_keeps_the_answer_to_a_ruling_that_follows() -> None:
    told = {STORY: heard(TEA, spilled=WET, who={"north": 0.8}), "there is one": heard({}), "And now?": heard({})}
    second = put("there is one", told, case(put(STORY, told), STORY), cloth="yes")
    assert second is not None
    assert second.outcome is not None
    assert second.outcome.then[1].ask is None
    third = put("And now?", told, case(second, STORY, "there is one"))
    assert third is not None
    assert third.outcome is not None
    assert third.outcome.then[1].ask is None


def test_a_new_text_answers_what_a_ruling_that_follows_asked() -> None:
    told = {STORY: heard(TEA, spilled=WET, who={"north": 0.8}), "there is one": heard({}, cloth={"yes": 1.0})}
    second = put("there is one", told, case(put(STORY, told), STORY))
    assert second is not None
    assert second.outcome is not None
    assert second.outcome.then[1].ask is None


# The irregularity was asked


def test_after_the_irregularity_was_asked_the_story_told_again_is_ruled_by_the_one_chosen() -> None:
    told = {STORY: heard({"tea": 0.375, "fire": 0.25}, spilled=WET)}
    first = put(STORY, told)
    second = put(STORY, told, case(first, STORY), irregularity="tea")
    assert path(second)["spilled"] == Known("yes", "read", 0.875)
    assert procedure(second) == "tea"


def test_a_fact_given_before_the_irregularity_was_asked_is_kept() -> None:
    told = {STORY: heard({"tea": 0.375, "fire": 0.25})}
    first = put(STORY, told, spilled="yes")
    assert asked(put(STORY, told, case(first, STORY), irregularity="tea")) is None


def test_the_irregularity_may_be_answered_in_another_text_than_the_story() -> None:
    told = {STORY: heard({"tea": 0.375, "fire": 0.25}, spilled=WET), "The tea": heard({"tea": 0.375})}
    assert asked(put("The tea", told, case(put(STORY, told), STORY), irregularity="tea")) is None


# A second story


def test_a_second_story_leaves_the_facts_of_the_first_behind() -> None:
    told = {STORY: heard(TEA, spilled=WET, who={"north": 1.0}), OTHER: heard(FIRE)}
    first = put(STORY, told, who="north")
    second = put(OTHER, told, case(first, STORY))
    assert asked(second) == "who"
    assert path(second) == {}
    assert second is not None
    assert second.facts == {"irregularity": "fire"}


def test_a_fact_of_a_second_story_is_stated_or_read_of_it() -> None:
    told = {STORY: heard(TEA, who={"north": 1.0}), OTHER: heard(FIRE, spilled={"no": 0.8})}
    second = put(OTHER, told, case(put(STORY, told, spilled="yes"), STORY), who="south")
    assert path(second) == {"who": Known("south", "stated"), "spilled": Known("no", "read", 0.8)}


@pytest.mark.parametrize(
    ("text", "irregularity"),
    [
        ("the curtains at table four are alight now", FIRE),  # eight words
        ("and the curtains at table four are burning", {"fire": 0.5, "tea": 0.49}),
    ],
)
def test_a_second_story_is_long_enough_and_surely_of_another_irregularity(text: str, irregularity: dict[str, float]) -> None:
    told = {STORY: heard(TEA), text: heard(irregularity)}
    assert procedure(put(text, told, case(put(STORY, told, spilled="yes"), STORY))) == "fire"


@pytest.mark.parametrize(
    ("text", "irregularity"),
    [
        ("the curtains at table four are alight", FIRE),  # seven words
        (OTHER, {"fire": 0.499}),
        (OTHER, TEA),
        (OTHER, {"fire": 0.0625}),
    ],
)
def test_any_other_text_goes_on_with_the_case(text: str, irregularity: dict[str, float]) -> None:
    told = {STORY: heard(TEA), text: heard(irregularity, who={"north": 1.0})}
    second = put(text, told, case(put(STORY, told, spilled="yes"), STORY))
    assert path(second) == {"spilled": Known("yes", "answered"), "who": Known("north", "changed", 1.0)}
    assert procedure(second) == "tea"


def test_with_an_irregularity_chosen_a_text_is_no_second_story() -> None:
    told = {STORY: heard(TEA), OTHER: heard(FIRE)}
    second = put(OTHER, told, case(put(STORY, told, spilled="yes"), STORY), irregularity="tea")
    assert path(second)["spilled"] == Known("yes", "answered")


def test_a_second_story_offers_the_procedures_that_it_tells() -> None:
    told = {STORY: heard(TEA), OTHER: heard(FIRE)}
    second = put(OTHER, told, case(put(STORY, told), STORY))
    assert second is not None
    assert second.candidates[:3] == ("fire", "noise", "dry")


def test_a_second_story_goes_on_with_what_it_told_itself() -> None:
    told = {STORY: heard(TEA, who={"north": 1.0}), OTHER: heard(FIRE, who={"south": 1.0}), "And now?": heard({})}
    second = put(OTHER, told, case(put(STORY, told), STORY))
    assert path(second) == {"who": Known("south", "read", 1.0)}
    third = put("And now?", told, case(second, STORY, OTHER))
    assert path(third) == {"who": Known("south", "read", 1.0)}


def test_a_second_story_ruled_anew_by_its_own_irregularity_does_not_read_the_first() -> None:
    told = {STORY: heard(TEA, who={"north": 1.0}), OTHER: heard(FIRE)}
    first = put(STORY, told)
    assert asked(put(OTHER, told, case(first, STORY))) == "who"
    changed = put(OTHER, told, case(first, STORY), irregularity="fire", spilled="yes")
    assert asked(changed) == "who"


# Facts of another case


def test_a_state_without_questions_is_a_new_case() -> None:
    state = State(FRESH.book, "en", (), {"irregularity": "fire", "spilled": "no"})
    decided = put(STORY, {STORY: heard(TEA)}, state)
    assert (procedure(decided), asked(decided)) == ("tea", "spilled")


def test_one_case_knows_nothing_of_another() -> None:
    told = {STORY: heard(TEA), "so": heard({})}
    answered, fresh = put(STORY, told, spilled="yes"), put(STORY, told)
    assert asked(fresh) == "spilled"
    assert path(put("so", told, case(answered, STORY)))["spilled"].option == "yes"
    assert asked(put("so", told, case(fresh, STORY))) == "spilled"
    assert FRESH.facts == {}
