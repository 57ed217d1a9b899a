"""What a gap between pages has cut: the tail of a clause, a heading on a missing page, a law that goes on elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from index.readers.numbering1987 import Title, named_sections
from index.readers.outline1987 import LAW, SECTION, Labels, Piece, predecessor
from index.readers.pages1987 import without_marks

_SENTENCE_END = re.compile(r"[.!?][)\"»]*\s*$")


def mark_cuts(pieces: Sequence[Piece], before: str, titles: Sequence[Title]) -> tuple[Piece, ...]:
    """The numbered pieces of a run with what is cut marked, and with pieces for what begins on a missing page.

    ``before`` is the text above the first piece: the tail of a clause. The law of the first piece, and a section that the text
    names, get a piece without text when their headings are missing; the law's title is taken from ``titles`` if it is there.
    """
    if not pieces:
        return ()
    out = list(pieces)
    out[-1] = replace(out[-1], ends_early=not _SENTENCE_END.search(without_marks(out[-1].text)))
    if before and len(out[0].labels) > 1:
        out.insert(0, Piece(_labels_of_tail(out[0].labels), "", before, starts_late=True))
    for labels in sorted({out[0].labels[:1], *named_sections(out)}, reverse=True):
        if None not in labels and all(piece.labels != labels for piece in out):
            title = next((known.title for known in titles if known.labels == labels[:1] == labels), "")
            out.insert(0, Piece(labels, title, starts_late=True))
    last_law = out[-1].labels[:1]
    goes_on = _goes_on(out, titles)
    return tuple(replace(piece, ends_early=piece.ends_early or (goes_on and piece.labels == last_law)) for piece in out)


def _labels_of_tail(first: Labels) -> Labels:
    """Labels of the text that ends where the clause of labels ``first`` begins: the one before it, or the one above it."""
    before = predecessor(first[-1] or "")
    return first[:-1] if before is None else (*first[:-1], before)


def _goes_on(pieces: Sequence[Piece], titles: Sequence[Title]) -> bool:
    """Whether the last law of a run has more sections, on a page that is missing.

    It has none when a contents list names no more or, with no list at hand, when the run ends between two sections and not
    within one.
    """
    last = pieces[-1]
    listed = {known.labels for known in titles if known.page is not None and known.labels[LAW] == last.labels[LAW]}
    whole = listed <= {piece.labels for piece in pieces} if listed else len(last.labels) - 1 <= SECTION
    return last.ends_early or not whole
