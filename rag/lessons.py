"""What the heads are taught (`index.lessons`), from facts, procedures and the table stories of the default book."""

from __future__ import annotations

from functools import lru_cache

from index.books import DEFAULT_BOOK, read_book
from index.lessons import IRREGULARITY, NOT_STATED, Labels, Lessons, Taught
from index.stories import Story, read_stories
from index.terms import with_terms
from rag.procedure import LINK, Fact, read_facts, read_procedures


def lessons() -> Lessons:
    """All of them."""
    facts, procedures = read_facts(), read_procedures()
    irregularity = {p.id: [p.title.en, *p.recognise.en, *p.recognise.ru] for p in procedures.values()}
    questions = {IRREGULARITY: Taught("What happened?", {**irregularity, NOT_STATED: []})}
    questions |= {fact.id: _taught(fact) for fact in facts.values()}
    stories = read_stories(read_book(DEFAULT_BOOK).folder)
    phrases: list[tuple[list[str], Labels]] = [
        ([*option.examples.en, *option.examples.ru], {fact.id: option.id}) for fact in facts.values() for option in fact.options
    ]
    phrases += [([*p.recognise.en, *p.recognise.ru], {IRREGULARITY: p.id}) for p in procedures.values()]
    return Lessons(questions, {story.q: labels_of(story) for story in stories}, phrases)


def searched_lines() -> dict[str, str]:
    """The stories and phrases in another language than the book's as they are searched: with its terms."""
    book = read_book(DEFAULT_BOOK)
    told = {story.q: story.lang for story in read_stories(book.folder)}
    told |= {text: "ru" for fact in read_facts().values() for option in fact.options for text in option.examples.ru}
    told |= {text: "ru" for one in read_procedures().values() for text in one.recognise.ru}
    return {text: with_terms(text, lang, book.lang) for text, lang in told.items() if lang != book.lang}


def labels_of(story: Story) -> dict[str, str]:
    """The options a story states; facts that its procedure could ask and that are not told are not stated."""
    labels = {IRREGULARITY: story.procedure}
    if story.procedure:
        labels |= dict.fromkeys(reachable_facts(story.procedure), NOT_STATED)
    return {**labels, **story.facts}


@lru_cache(maxsize=256)
def reachable_facts(procedure_id: str) -> frozenset[str]:
    """The facts that a procedure, or one it links to, can ask."""
    return _facts_of(procedure_id, with_then=False)


@lru_cache(maxsize=256)
def usable_facts(procedure_id: str) -> frozenset[str]:
    """The facts that a procedure can use: its own, and those of all that it links to or that rule after it."""
    return _facts_of(procedure_id, with_then=True)


def _facts_of(procedure_id: str, with_then: bool) -> frozenset[str]:
    procedures, found, still = read_procedures(), set[str](), [procedure_id]
    while still:
        name = still.pop()
        if name not in found:
            found.add(name)
            still += [target[len(LINK) :] for target in procedures[name].targets() if target.startswith(LINK)]
            still += [then for leaf in procedures[name].leaves.values() for then in leaf.then if with_then]
    return frozenset(node.fact for name in found for node in procedures[name].nodes.values())


def _taught(fact: Fact) -> Taught:
    options = {
        option.id: [option.label.en, option.label.ru, *option.examples.en, *option.examples.ru] for option in fact.options
    }
    return Taught(fact.question.en, {**options, NOT_STATED: []})
