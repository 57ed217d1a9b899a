"""The text of a Word file: a paragraph a line with an empty line between, automatic numbers and footnotes written out."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from index.errors import BookError
from index.readers.encoding import clean_text
from index.readers.list_numbers import number_text

MAX_UNPACKED = 256 << 20
MAX_PART = 48 << 20
"""Bytes that all parts of the file, and its text, may unpack to; a zip bomb unpacks to more."""
MAX_PARTS = 5000
_MOST_STYLES = 16
"""Styles based on one another that are followed; more are a ring."""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NOT_SHOWN = frozenset({f"{_W}del", f"{_W}moveFrom", "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"})
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEVEL = re.compile(r"%([1-9])")


def read_docx(path: Path) -> str:
    """The text of the file. Raises `BookError` when it is no Word file, damaged, or unpacks to too much."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    _check_size(path)
    try:
        document = docx.Document(str(path))
        notes = _notes(document)
        numbers = _Numbers(document)
        lines = list(_lines(document.element.body, numbers, notes))
    except (PackageNotFoundError, KeyError, ValueError, AttributeError, zipfile.BadZipFile, etree.LxmlError, OSError) as error:
        raise BookError(f"{path.name} is no Word file, or a damaged one; save it again as .docx.") from error
    return clean_text("\n\n".join(filter(None, lines)))


def _check_size(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = [part.file_size for part in archive.infolist()]
            largest = max((part.file_size for part in archive.infolist() if part.filename.endswith(".xml")), default=0)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise BookError(f"{path.name} is no Word file, or a damaged one; save it again as .docx.") from error
    if sum(sizes) > MAX_UNPACKED or largest > MAX_PART or len(sizes) > MAX_PARTS:
        raise BookError(f"{path.name} unpacks to far more than a law book has (a zip bomb?); save its text as .txt.")


def _lines(body: Any, numbers: _Numbers, notes: dict[str, str]) -> Iterator[str]:
    """Each paragraph; the cells of a table row side by side when each holds but one."""
    in_rows: set[Any] = set()
    for node in body.iter(f"{_W}p", f"{_W}tr"):
        if node in in_rows or any(parent.tag in _NOT_SHOWN for parent in node.iterancestors()):
            continue
        if node.tag == f"{_W}p":
            yield from _paragraph(node, numbers, notes)
            continue
        cells = [list(cell.iter(f"{_W}p")) for cell in node.iter(f"{_W}tc")]
        if all(len(cell) == 1 for cell in cells):
            in_rows.update(cell[0] for cell in cells)
            found = [list(_paragraph(cell[0], numbers, notes)) for cell in cells]
            yield " ".join(filter(None, (lines[0] for lines in found)))
            yield from (note for lines in found for note in lines[1:])


def _paragraph(node: Any, numbers: _Numbers, notes: dict[str, str]) -> Iterator[str]:
    """The paragraph with its automatic number, and after it the footnotes that it refers to."""
    referred: list[str] = []
    text = "".join(_pieces(node, referred)).strip()
    number = numbers.next_of(node) if text else ""
    yield f"{number} {text}".strip()
    for note in referred:
        if note in notes:
            yield f"{note.translate(_SUPERSCRIPTS)} {notes[note]}"


def _pieces(node: Any, referred: list[str]) -> Iterator[str]:
    """The text of a paragraph; of tracked changes the new text."""
    for child in node:
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in {f"{_W}tab", f"{_W}cr"} or (child.tag == f"{_W}br" and child.get(f"{_W}type") is None):
            yield "\n" if child.tag != f"{_W}tab" else " "
        elif child.tag == f"{_W}noBreakHyphen":
            yield "-"
        elif child.tag == f"{_W}footnoteReference":
            referred.append(child.get(f"{_W}id"))
            yield referred[-1].translate(_SUPERSCRIPTS)
        elif child.tag not in _NOT_SHOWN and child.tag not in {f"{_W}pPr", f"{_W}p"}:
            yield from _pieces(child, referred)


def _notes(document: Any) -> dict[str, str]:
    """The footnotes by their number."""
    for related in document.part.rels.values():
        if related.reltype.endswith("/footnotes") and not related.is_external:
            tree = etree.fromstring(related.target_part.blob, etree.XMLParser(resolve_entities=False, no_network=True))
            found = {note.get(f"{_W}id"): "".join(_pieces_of_note(note)).strip() for note in tree.iter(f"{_W}footnote")}
            return {number: " ".join(text.split()) for number, text in found.items() if text}
    return {}


def _pieces_of_note(note: Any) -> Iterator[str]:
    for paragraph in note.iter(f"{_W}p"):
        yield from _pieces(paragraph, [])
        yield " "


class _Numbers:
    """The automatic numbers of a document's paragraphs, counted as Word does: by list, level by level."""

    def __init__(self, document: Any) -> None:
        self._styles = {style.style_id: style.element for style in document.styles}
        self._levels: dict[str, dict[int, Any]] = {}
        self._list_of: dict[str, str] = {}
        self._begin_anew: dict[str, dict[int, int]] = {}
        self._counts: dict[str, Counter[int]] = {}
        try:
            numbering = document.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return
        for abstract in numbering.iter(f"{_W}abstractNum"):
            levels = {int(level.get(f"{_W}ilvl")): level for level in abstract.iter(f"{_W}lvl")}
            self._levels[abstract.get(f"{_W}abstractNumId")] = levels
        for number in numbering.iter(f"{_W}num"):
            self._list_of[number.get(f"{_W}numId")] = _value(number, "abstractNumId") or ""
            starts = ((over.get(f"{_W}ilvl"), _value(over, "startOverride")) for over in number.iter(f"{_W}lvlOverride"))
            self._begin_anew[number.get(f"{_W}numId")] = {int(level): int(start) for level, start in starts if start}

    def next_of(self, paragraph: Any) -> str:
        """The number of the paragraph, which is counted; empty when it has none."""
        number, level = self._place(paragraph)
        levels = self._levels.get(self._list_of.get(number, ""), {})
        if level not in levels:
            return ""
        counts = self._counts.setdefault(self._list_of[number], Counter())
        for anew, start in self._begin_anew.pop(number, {}).items():
            counts[anew] = start - 1
        counts[level] = counts[level] + 1 if level in counts else _start(levels[level])
        for deeper in [k for k in counts if k > level]:
            del counts[deeper]
        if (_value(levels[level], "numFmt") or "decimal") in {"bullet", "none"}:
            return ""
        form = _value(levels[level], "lvlText") or ""
        return _LEVEL.sub(lambda match: _shown(int(match[1]) - 1, levels, counts), form).strip()

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """The list and the level of a paragraph: each its own, or that of its style, or of the styles that this is based on."""
        number, level = _numbering(paragraph)
        properties = paragraph.find(f"{_W}pPr")
        name = _value(properties, "pStyle")
        for _ in range(_MOST_STYLES):
            style = self._styles.get(name or "")
            if style is None or (number and level):
                break
            of_style = _numbering(style)
            if not number and of_style[0] and not (level or of_style[1]):
                level = self._level_of_style(of_style[0], name or "")
            number, level = number or of_style[0], level or of_style[1]
            name = _value(style, "basedOn")
        return number, int(level) if level.isdigit() else 0

    def _level_of_style(self, number: str, name: str) -> str:
        levels = self._levels.get(self._list_of.get(number, ""), {})
        return next((str(k) for k, level in levels.items() if _value(level, "pStyle") == name), "")


def _numbering(node: Any) -> tuple[str, str]:
    place = node.find(f"{_W}pPr/{_W}numPr")
    return _value(place, "numId") or "", _value(place, "ilvl") or ""


def _shown(k: int, levels: dict[int, Any], counts: Counter[int]) -> str:
    if k not in levels:
        return ""
    return number_text(counts[k] if k in counts else _start(levels[k]), _value(levels[k], "numFmt") or "decimal")


def _start(level: Any) -> int:
    start = _value(level, "start")
    return int(start) if start and start.isdigit() else 1


def _value(node: Any, name: str) -> str | None:
    child = node.find(f"{_W}{name}") if node is not None else None
    return child.get(f"{_W}val") if child is not None else None
