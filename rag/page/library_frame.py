"""A page of the library in its frame: head, navigation, styles and scripts."""

from __future__ import annotations

from typing import Any

from rag.page.render import css, library_head, templates
from rag.strings import strings


def page(template: str, lang: str, **values: Any) -> str:
    """A whole page in a language, from a template that extends ``library_frame.html``."""
    return templates().get_template(template).render(text=strings(lang), lang=lang, css=css(), head=library_head(), **values)


def fragment(template: str, lang: str, **values: Any) -> str:
    """A part of a page, which the page's script puts in its place."""
    return templates().get_template(template).render(text=strings(lang), lang=lang, **values)
