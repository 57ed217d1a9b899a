"""The text of a PDF, page by page, in the order in which it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from index.errors import BookError
from index.readers.encoding import clean_text
from index.readers.hyphens import join_hyphenated
from index.readers.pdf_page import Row, lines_of, make_rows
from index.readers.reading import MAX_TEXT
from index.readers.running_heads import without_running_heads

MAX_PAGES = 1500
"""Pages; the Laws of Duplicate Bridge have about 150."""
_UNMAPPED = re.compile(r"\(cid:\d+\)|[\ue000-\uf8ff\ufffd]")
_TWICE_SHARE = 0.05
"""Share of letters printed twice from which on they are looked at one by one."""
_UNMAPPED_SHARE = 0.3
"""From this share of letters on that the PDF does not say how to write, a page is unreadable."""


def read_pdf(path: Path, progress: Callable[[int, int], None]) -> tuple[str, ...]:
    """The text of each page; an unreadable page is empty, a blank one a line end. ``progress`` gets pages done and in all.

    Raises `BookError` for a file that is encrypted, damaged, too long, or holds no text but images.
    """
    import pdfplumber
    from pdfminer.pdfdocument import PDFPasswordIncorrect
    from pdfplumber.utils.exceptions import PdfminerException

    try:
        with pdfplumber.open(path) as pdf:
            return _read(path.name, pdf, progress)
    except PdfminerException as error:
        if any(isinstance(cause, PDFPasswordIncorrect) for cause in (*error.args, error.__cause__, error.__context__)):
            raise BookError(
                f"{path.name} is encrypted; open it with its password, print it to a new PDF and import that."
            ) from error
        raise BookError(f"{path.name} is damaged; get it again, or print it to a new PDF.") from error


def _read(name: str, pdf: Any, progress: Callable[[int, int], None]) -> tuple[str, ...]:
    count = len(pdf.pages)
    if count > MAX_PAGES:
        raise BookError(f"{name} has {count} pages, a law book at most {MAX_PAGES}; import the pages with the laws only.")
    pages: list[list[Row]] = []
    unreadable = set()
    letters = 0
    for number, page in enumerate(pdf.pages):
        rows = make_rows(_readable(page).extract_words(return_chars=True))
        text = "".join(row.text for row in rows)
        letters += len(text)
        if letters > MAX_TEXT:
            raise BookError(f"{name} holds more than {MAX_TEXT:,} characters, no law book does; import its laws only.")
        if len(_UNMAPPED.findall(text)) > _UNMAPPED_SHARE * max(1, len(text.replace("(cid:", ""))) / 2:
            rows = []
        if not rows and (text or page.images):
            unreadable.add(number)
        pages.append(rows)
        page.close()
        progress(number + 1, count)
    if not any(pages):
        raise BookError(
            f"{name} holds no readable text, only images of its pages; run text recognition on it (ocrmypdf), then import that."
        )
    lines = join_hyphenated(lines_of(without_running_heads(pages)))
    texts = ("\n".join(page) for page in lines)
    return tuple("" if number in unreadable else clean_text(text) or "\n" for number, text in enumerate(texts))


def _readable(page: Any) -> Any:
    """The page without watermarks, and without the second print of letters that are bold by being printed twice.

    Both are looked for before they are taken out, which takes longer than all the rest.
    """
    if not all(char.get("upright", True) for char in page.chars):
        page = page.filter(_is_upright)
    places = {(char["text"], round(char["x0"]), round(char["top"])) for char in page.chars}
    return page.dedupe_chars() if len(places) < (1 - _TWICE_SHARE) * len(page.chars) else page


def _is_upright(thing: dict[str, Any]) -> bool:
    """Letters that stand upright; watermarks across the page do not."""
    return bool(thing.get("object_type") != "char" or thing.get("upright", True))
