from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from index import paths
from index.books import DEFAULT_BOOK, read_book
from index.lessons import Labels, Lessons
from index.stories import LONG_LINE, Story, is_held_out, read_stories
from rag.lessons import labels_of, lessons, reachable_facts
from rag.procedure import read_facts, read_procedures
from tests.invented import invented_procedures


@pytest.fixture(scope="module")
def bundled() -> Lessons:
    """The lessons of the bundled procedures and stories, made once."""
    return lessons()


@pytest.fixture(scope="module")
def stories() -> tuple[Story, ...]:
    return read_stories(paths.bundled_books_dir() / DEFAULT_BOOK)


@pytest.fixture
def invented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with invented_procedures(tmp_path_factory.mktemp("procedures")):
        yield


def unknown(labels: Labels, taught: Lessons) -> list[str]:
    """The labels that name no question, or no option of it."""
    return [f"{q}={o}" for q, o in labels.items() if q not in taught.questions or o not in taught.questions[q].options]


# The bundled lessons; the invented ones follow below, as each change of procedures reads them all anew


def test_every_fact_and_procedure_is_taught_with_all_its_options(bundled: Lessons) -> None:
    facts, procedures = read_facts(), read_procedures()
    assert list(bundled.questions) == ["irregularity", *facts]
    assert list(bundled.questions["irregularity"].options) == [*procedures, ""]
    for name, fact in facts.items():
        assert list(bundled.questions[name].options) == [*(option.id for option in fact.options), ""], name


def test_every_option_has_texts_and_what_is_not_stated_has_none(bundled: Lessons) -> None:
    for name, taught in bundled.questions.items():
        assert taught.text
        for option, texts in taught.options.items():
            assert (texts == []) is (option == ""), (name, option)
            assert all(text.strip() for text in texts), (name, option)


def test_the_bundled_stories_state_only_known_facts_and_options(bundled: Lessons) -> None:
    assert {line: wrong for line, labels in bundled.labels.items() if (wrong := unknown(labels, bundled))} == {}


def test_the_bundled_stories_name_known_procedures(stories: tuple[Story, ...]) -> None:
    named = {one for story in stories for one in (story.procedure, story.also_procedure)}
    assert named - {"", *read_procedures()} == set()


def test_no_bundled_story_states_outright_that_something_is_not_stated(stories: tuple[Story, ...]) -> None:
    assert [story.q for story in stories if "" in story.facts.values()] == []


def test_a_second_irregularity_of_a_bundled_story_is_another_than_the_first(stories: tuple[Story, ...]) -> None:
    assert [s.q for s in stories if s.also_procedure and s.also_procedure == s.procedure] == []


def test_each_bundled_story_is_taught_once_under_its_own_text(bundled: Lessons, stories: tuple[Story, ...]) -> None:
    assert [q for q, count in Counter(story.q for story in stories).items() if count > 1] == []
    assert set(bundled.labels) == {story.q for story in stories}
    lines = {line.text for clause in read_book(DEFAULT_BOOK).clauses for line in clause.asked}
    assert set(bundled.labels) <= lines


def test_the_phrases_state_each_option_and_each_procedure_once(bundled: Lessons) -> None:
    stated = Counter((question, option) for _, labels in bundled.phrases for question, option in labels.items())
    options = {(q, o) for q, taught in bundled.questions.items() for o in taught.options if o}
    assert set(stated) == options
    assert set(stated.values()) == {1}
    assert all(len(labels) == 1 and len(texts) >= 2 for texts, labels in bundled.phrases)


def test_the_lines_to_learn_from_are_the_stories_but_for_those_held_out_and_the_phrases(bundled: Lessons) -> None:
    held = {text for text in bundled.labels if is_held_out(text)}
    assert held
    lines = list(bundled.lines())
    assert lines[: len(bundled.labels) - len(held)] == [one for one in bundled.labels.items() if one[0] not in held]
    assert not held & {text for text, _ in lines}
    assert {text for texts, _ in bundled.phrases for text in texts} <= {text for text, _ in lines}


# Invented procedures


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(
    ("procedure", "facts"),
    [
        ("dry", {"spilled"}),
        ("tea", {"spilled", "who"}),  # dry by a link; mop only follows
        ("fire", {"who", "spilled", "alarm"}),  # noise by a link, and tea, that links to dry
    ],
)
def test_the_facts_of_a_procedure_are_its_own_and_those_behind_its_links(procedure: str, facts: set[str]) -> None:
    assert reachable_facts(procedure) == facts


@pytest.mark.usefixtures("invented")
def test_the_facts_of_no_procedure_are_not_made_up() -> None:
    with pytest.raises(KeyError, match="coffee"):
        reachable_facts("coffee")


@pytest.mark.usefixtures("invented")
@pytest.mark.parametrize(
    ("procedure", "facts", "labels"),
    [
        ("", {}, {"irregularity": ""}),
        ("", {"who": "north"}, {"irregularity": "", "who": "north"}),
        ("tea", {}, {"irregularity": "tea", "spilled": "", "who": ""}),
        ("tea", {"who": "north"}, {"irregularity": "tea", "spilled": "", "who": "north"}),
        # a fact of the ruling that follows is a label where it is told, and else none
        ("tea", {"cloth": "yes"}, {"irregularity": "tea", "spilled": "", "who": "", "cloth": "yes"}),
    ],
)
def test_a_story_states_what_it_tells_and_that_the_rest_its_procedure_asks_is_not_told(
    procedure: str, facts: dict[str, str], labels: dict[str, str]
) -> None:
    story = Story(lang="en", q="North poured", clauses=["1"], procedure=procedure, facts=facts, also_procedure="mop")
    assert labels_of(story) == labels


@pytest.mark.usefixtures("invented")
def test_what_is_taught_is_made_of_the_words_of_facts_and_procedures(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Story(lang="en", q="North poured", clauses=["27A1"], procedure="dry", facts={"spilled": "no"})
    monkeypatch.setattr("rag.lessons.read_stories", lambda folder: (told,))
    taught = lessons()
    assert list(taught.questions) == ["irregularity", "spilled", "who", "cloth", "alarm"]
    irregularity = taught.questions["irregularity"]
    assert irregularity.options["tea"] == ["The tea", "there was tea", "случилось tea"]
    assert irregularity.options[""] == []
    who = taught.questions["who"]
    assert (who.text, list(who.options)) == ("Who did it?", ["north", "south", ""])
    assert who.options["north"] == ["north who", "north по-русски", "who: north", "«north»"]
    assert taught.labels == {"North poured": {"irregularity": "dry", "spilled": "no"}}
    assert taught.phrases[0] == (["spilled: yes", "«yes»"], {"spilled": "yes"})
    assert taught.phrases[-1] == (["there was tea", "случилось tea"], {"irregularity": "tea"})
    assert len(taught.phrases) == 8 + 5


# Lessons of one's own making


def test_a_long_line_that_is_not_held_out_is_learned_from_and_each_text_of_a_phrase() -> None:
    told = [f"{k} the tea was everywhere ".ljust(LONG_LINE, "!") for k in range(100)]
    held = next(text for text in told if is_held_out(text))
    kept = next(text for text in told if not is_held_out(text))
    stories: dict[str, Labels] = {held: {"who": "south"}, kept: {"who": "north"}, "short": {}}
    made = Lessons({}, stories, [(["she", held], {"who": ""}), (["fire"], {"alarm": "yes"})])
    assert list(made.lines()) == [
        (kept, {"who": "north"}),
        ("short", {}),
        ("she", {"who": ""}),
        (held, {"who": ""}),  # a phrase is not a story, and none is held out
        ("fire", {"alarm": "yes"}),
    ]
