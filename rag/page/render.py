"""Rulings, cases and clauses as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from index.books import EDITION_IN_FORCE
from index.user_books import is_imported
from index.wording import Shown, comments, shown, wordings
from rag.cases import INTERRUPTED, Case
from rag.page.procedure_view import ProcedureView, view
from rag.strings import authority, languages, strings

FOLDER = Path(__file__).resolve().parent
EXAMPLES = 3
"""Example questions shown on an empty page."""
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def _law_text(text: str, is_plain: bool) -> Markup:
    """Our own books are Markdown; in an imported text stars, number signs and brackets are its own."""
    if not is_plain:
        return Markup(_MARKDOWN.render(text))  # noqa: S704 - markdown-it escapes HTML
    paragraphs = (Markup("<br>").join(paragraph.split("\n")) for paragraph in text.split("\n\n"))
    return Markup("").join(map(Markup("<p>{}</p>\n").format, paragraphs))


def _card_text(law: dict[str, Any]) -> Markup:
    is_plain = law["source"] == "imported" or (law["source"] != "restated" and is_imported(law["book"]))
    return _law_text(law["text"], is_plain)


@lru_cache(maxsize=1)
def templates() -> jinja2.Environment:
    """The templates, with the filters for law texts."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(law_text=_law_text, card_text=_card_text)
    return environment


def choose_language(accept_language: str | None) -> str:
    """The first language of the browser's list that we have, else English."""
    for part in (accept_language or "").split(","):
        code = part.split(";")[0].strip().lower().split("-")[0]
        if code in languages():
            return code
    return "en"


def case_html(case: Case | None, lang: str) -> str:
    """The conversation of a case: each question with its law cards and answer."""
    turns: list[dict[str, Any]] = []
    for turn in case.turns if case else ():
        ruling = turn.ruling
        language = ruling["lang"] if ruling else lang
        line = authority(language, ruling["edition"], ruling["laws"][0]["source"]) if ruling and ruling["laws"] else ""
        notice = strings(language)[INTERRUPTED] if turn.notice == INTERRUPTED else turn.notice
        turns.append({"id": turn.id, "question": turn.question, "ruling": ruling, "notice": notice, "done": turn.done,
                      "lang": language, "text": strings(language), "authority": line, "view": _view(ruling, language),
                      "then": list(_then(ruling, language))})  # fmt: skip
    return (
        templates()
        .get_template("case.html")
        .render(turns=turns, text=strings(lang), examples=EXAMPLES, in_force=EDITION_IN_FORCE)
    )


def _view(ruling: dict[str, Any] | None, lang: str) -> ProcedureView | None:
    return view(ruling, ruling.get("candidates", ()), lang, ruling["state"]["facts"]) if ruling else None


def _then(ruling: dict[str, Any] | None, lang: str) -> Iterator[dict[str, Any]]:
    """The rulings that follow, with their views, and those that follow them."""
    for second in ruling["then"] if ruling else ():
        if shown := view(second, (), lang, {}):
            yield {"ruling": second, "view": replace(shown, candidates=())}
        yield from _then(second, lang)


def title_html(lang: str) -> str:
    """The page's title; it carries the words that the page's script needs."""
    text = strings(lang)
    return str(
        Markup('<h1 lang="{}" data-close="{}" data-lost="{}">{}</h1>').format(
            lang, text["close"], text["lost_connection"], text["title"]
        )
    )


def law_html(law: Shown, lang: str) -> str:
    """A clause with the headings above it and all below it, as a panel of the page."""
    book, clause = law.book, law.clause
    books = wordings(book, lang)
    above = [found for found in map(book.get, reversed(clause.id.ancestors())) if found]
    branch = []
    for below in book.branch(clause.id):
        one = shown(books, below.id) or Shown(below, book)
        level = len(below.id.ancestors()) - len(clause.id.ancestors())
        branch.append({"clause": one.clause, "see": below.see, "level": level,
                       "source": clause_source(one, lang), "is_plain": one.book.source == "imported"})  # fmt: skip
    return templates().get_template("law.html").render(
        clause=clause, above=above, branch=branch, text=strings(lang), book=book,
        comments=comments(book, clause.id.law),
        authority=authority(lang, book.edition, (shown(books, clause.id) or Shown(clause, book)).book.wording),
    )  # fmt: skip


def clause_source(law: Shown, lang: str) -> str:
    """Whose words a clause is shown in; a superseded edition and a clause that is only there in part are named as such."""
    text = strings(lang)
    marks = [text[f"wording_{law.book.wording}"]]
    if law.book.source == "imported":
        marks.append(law.book.title)
    if law.book.edition != EDITION_IN_FORCE:
        marks.append(text["not_in_force"].format(edition=law.book.edition))
    return " · ".join(marks)


def css() -> str:
    """The style sheet of the page, which Gradio takes."""
    return _read("page.css")


def head() -> str:
    """What stands in the head of every page: the style sheet of the law book, and the scripts.

    In a style sheet that it takes, Gradio puts all in ``@media`` under its own container; the law book stands beside that.
    """
    return f"<style>{_read('library.css')}</style>\n<script>{_read('page.js')}\n{_read('library.js')}</script>"


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
