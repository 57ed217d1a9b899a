"""Rulings, cases and clauses as HTML."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markdown_it import MarkdownIt
from markupsafe import Markup

from index.types import Book, Clause
from index.user_books import is_imported
from rag.cases import INTERRUPTED, Case
from rag.strings import authority, languages, strings

FOLDER = Path(__file__).resolve().parent
EXAMPLES = 3
"""Example questions shown on an empty page."""
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def _markdown(text: str) -> Markup:
    return Markup(_MARKDOWN.render(text))  # noqa: S704 - markdown-it escapes HTML


def _plain(text: str) -> Markup:
    """Imported text as its source has it: its stars, number signs and brackets are no Markdown."""
    paragraphs = (Markup("<br>").join(paragraph.split("\n")) for paragraph in text.split("\n\n"))
    return Markup("").join(map(Markup("<p>{}</p>\n").format, paragraphs))


def _card_text(law: dict[str, Any]) -> Markup:
    imported = law["source"] == "imported" or (law["source"] != "restated" and is_imported(law["book"]))
    return _plain(law["text"]) if imported else _markdown(law["text"])


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters.update(markdown=_markdown, plain=_plain, card_text=_card_text)
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
        turns.append({"question": turn.question, "ruling": ruling, "notice": notice, "done": turn.done,
                      "text": strings(language), "authority": line})  # fmt: skip
    return _templates().get_template("case.html").render(turns=turns, text=strings(lang), examples=EXAMPLES)


def law_html(book: Book, clause: Clause, lang: str, whole_page: bool) -> str:
    """A clause with the headings above it and all below it; as a panel over the page, or as a page of its own."""
    above = [found for found in map(book.get, reversed(clause.id.ancestors())) if found]
    branch = [{"clause": c, "level": len(c.id.ancestors()) - len(clause.id.ancestors())} for c in book.branch(clause.id)]
    template = _templates().get_template("law_page.html" if whole_page else "law.html")
    return template.render(
        clause=clause, above=above, branch=branch, text=strings(lang), lang=lang, book=book,
        authority=authority(lang, book.edition, book.wording), css=css() if whole_page else "",
    )  # fmt: skip


def css() -> str:
    """The style sheet."""
    return (FOLDER / "page.css").read_text(encoding="utf-8")


def script() -> str:
    """The page's script."""
    return (FOLDER / "page.js").read_text(encoding="utf-8")
