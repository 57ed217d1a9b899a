"""The text of a web page: paragraphs with empty lines between, numbers of lists written out, menus and scripts left out."""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from index.errors import BookError
from index.readers.encoding import clean_text, decode, decode_as
from index.readers.list_numbers import number_text

_DECLARED = re.compile(rb"charset\s*=\s*[\"']?\s*([\w-]+)|<\?xml[^>]*encoding\s*=\s*[\"']([\w-]+)", re.IGNORECASE)
_HEAD = 4096
"""Bytes in which the page declares its encoding."""
_LEFT_OUT = frozenset("script style noscript template head nav header footer aside form button select svg math iframe".split())
_BLOCKS = frozenset(
    "p div h1 h2 h3 h4 h5 h6 li ul ol dl dt dd table tr caption blockquote pre section article main address hr figure "
    "figcaption fieldset details summary center body".split()
)
_LIST_FORMS = {"A": "upperLetter", "a": "lowerLetter", "I": "upperRoman", "i": "lowerRoman", "1": "decimal"}
_LIST_STYLES = {
    "upper-alpha": "A", "upper-latin": "A", "lower-alpha": "a", "lower-latin": "a", "upper-roman": "I", "lower-roman": "i",
}  # fmt: skip
_STYLE = re.compile(r"list-style(?:-type)?\s*:[^;]*?\b(upper-\w+|lower-\w+|decimal|none)")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def read_html(name: str, data: bytes) -> tuple[str, str]:
    """The text of the page and the encoding that it was in. Raises `BookError` when it cannot be parsed."""
    declared = _DECLARED.search(data[:_HEAD])
    said = (declared[1] or declared[2]).decode("ascii") if declared else ""
    text, encoding = (decode_as(data, said) if said else None) or decode(data)
    try:
        # as UTF-8 bytes, for lxml refuses text that declares another encoding
        tree = document_fromstring(text.encode("utf-8", "replace"), parser=HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError) as error:
        raise BookError(f"{name} is no web page; save it again as HTML, or as text.") from error
    pieces: list[str] = []
    _write(tree, pieces)
    lines = (" ".join(line.split()) for line in clean_text("".join(pieces)).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), encoding


def _write(tree: HtmlElement, pieces: list[str]) -> None:
    """Walk the tree without recursion: a page may be nested as deep as it likes."""
    skipped: HtmlElement | None = None
    for event, node in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"}:
            pieces += [] if skipped is not None else [_flat(node.tail)]
        elif event == "start":
            if skipped is None and node.tag in _LEFT_OUT:
                skipped = node
            if skipped is None:
                pieces += _opening(node)
        else:
            if skipped is node:
                skipped = None
            elif skipped is None:
                pieces += ["\n\n"] if node.tag in _BLOCKS else []
            if skipped is None:
                pieces.append(_flat(node.tail))


def _opening(node: HtmlElement) -> list[str]:
    if node.tag == "br":
        return ["\n"]
    text = node.text or ""
    text = text if node.tag == "pre" else _flat(text)
    if node.tag == "sup" and text.strip().isdigit():
        text = text.strip().translate(_SUPERSCRIPTS)
    before = ["\n\n"] if node.tag in _BLOCKS else [" "] if node.tag in {"td", "th"} else []
    return [*before, _list_number(node) if node.tag == "li" else "", text]


def _list_number(item: HtmlElement) -> str:
    """The number that a browser would show before an item of a numbered list."""
    above = item.getparent()
    if above is None or above.tag != "ol":
        return ""
    style = _STYLE.search(above.get("style") or "")
    if style and style[1] == "none":
        return ""
    form = _LIST_FORMS.get(_LIST_STYLES.get(style[1], "1") if style else above.get("type") or "1", "decimal")
    number = _number(above.get("start"), 1) - 1
    for sibling in above.iterchildren("li"):
        number = _number(sibling.get("value"), number + 1)
        if sibling is item:
            break
    return f"{number_text(number, form)}. "


def _number(text: str | None, default: int) -> int:
    return int(text) if text and re.fullmatch(r"-?\d{1,6}", text.strip()) else default


def _flat(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")
