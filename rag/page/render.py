"""Rulings, cases and clauses as HTML."""

from __future__ import annotations

import hashlib
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
from rag.page.tiles import read_tiles, told
from rag.strings import authority, languages, strings

FOLDER = Path(__file__).resolve().parent
SCRIPTS = ("page.js", "steady.js", "readout.js", "phone.js", "connection.js")
"""In the order in which they are run: each may use what those before it have put into ``window.tablelaw``."""
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
    environment.filters.update(law_text=_law_text, card_text=_card_text, told=told)
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
        .render(turns=turns, text=strings(lang), lang=lang, examples=EXAMPLES, in_force=EDITION_IN_FORCE,
                case=case, version=version_of(case), tiles=read_tiles())
    )  # fmt: skip


def version_of(case: Case | None) -> str:
    """What tells one state of the shown case from every other, so that a page that slept knows whether it is current."""
    return hashlib.sha256(repr((case.id, case.turns) if case else None).encode("utf-8", "replace")).hexdigest()[:16]


def _view(ruling: dict[str, Any] | None, lang: str) -> ProcedureView | None:
    return view(ruling, ruling.get("candidates", ()), lang, ruling["state"]["facts"]) if ruling else None


def _then(ruling: dict[str, Any] | None, lang: str) -> Iterator[dict[str, Any]]:
    """The rulings that follow, with their views, and those that follow them."""
    for second in ruling["then"] if ruling else ():
        if shown := view(second, (), lang, {}):
            yield {"ruling": second, "view": replace(shown, candidates=())}
        yield from _then(second, lang)


def title_html(lang: str) -> str:
    """The page's title and the way to the other pages; it carries the words that the page's script needs."""
    return templates().get_template("title.html").render(lang=lang, text=strings(lang))


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
    """The style sheet of all pages."""
    return _files(("page.css", "pages.css"))


def main_css() -> str:
    """The main page's style sheet: Gradio puts its own box before each selector, without which its own styles would win."""
    return _files(("page.css", "pages.css", "phone.css"))


def head() -> str:
    """What stands in the main page's head: scripts, and styles that Gradio would change (``html``, ``@media``)."""
    return f"<style>{_files(('head.css', 'library.css'))}</style>{_scripts(*SCRIPTS, 'library.js')}"


def library_head() -> str:
    """What stands in the head of the pages of the law book: its styles, and the scripts of sheet and look-up."""
    return f"<style>{_files(('library.css',))}</style>{_scripts('page.js', 'library.js')}"


def _scripts(*names: str) -> str:
    return f"<script>{look_script()}</script><script>{_files(names)}</script>"


def look_script() -> str:
    """The script that applies text size and dark or light before the first paint; it stands in the head of every page."""
    return _files(("look.js",))


@lru_cache(maxsize=16)
def _files(names: tuple[str, ...]) -> str:
    return "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in names)
