"""Clauses from the pieces and definitions of a run of pages, with their footnotes; and one copy of each of several texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from index.clause_id import ClauseId, parse_clause_id
from index.readers.definitions1987 import Definition
from index.readers.outline1987 import Labels, Piece, join_paragraphs
from index.readers.pages1987 import Run, note_indices, without_marks
from index.readers.references import find_references
from index.readers.russian import Words, in_dictionary, is_function_word
from index.readers.spacing import tidy
from index.types import Clause

_NOTE_OF_LAST_PAGE = re.compile(r"сноск[а-я]*\s*\((?P<mark>\*+)\)\s*на\s+предыдущей\s+странице")
_LAST_WORD = re.compile(r"([а-яё]+)\W*$", re.IGNORECASE)
_DEFINITIONS = ClauseId("Def")


def clause_id(labels: Labels) -> ClauseId:
    """The id of full labels, as the edition prints it: ``30B2(A)``, ``25B2(B)(1)``."""
    return ClauseId("".join(map(str, labels[:3])) + "".join(f"({label})" for label in labels[3:]))


def law_clauses(pieces: Iterable[Piece], run: Run, words: Words, file: str) -> list[Clause]:
    """The clauses of a run in its order, each footnote behind the clause that its mark first stands in."""
    note_ids: dict[int, ClauseId] = {}
    clauses = []
    for piece in pieces:
        home = clause_id(piece.labels)
        marked = list(note_indices(f"{piece.heading} {piece.text}"))
        own = [index for index in marked if index not in note_ids]
        note_ids.update({index: ClauseId(f"{home}#fn{k or ''}") for k, index in zip((0, *range(2, 9)), own, strict=False)})
        text = tidy(join_paragraphs(without_marks(piece.text), words))
        whole = not (piece.starts_late or piece.ends_early)
        see = tuple(note_ids[index] for index in marked if index not in own)
        clauses.append(Clause(home, tidy(without_marks(piece.heading)), text, see=see, complete=whole, file=file))
        clauses += [_note(index, note_ids, run, words, file) for index in own]
    return clauses


def _note(index: int, note_ids: dict[int, ClauseId], run: Run, words: Words, file: str) -> Clause:
    """A footnote as a clause of its own; "see the note on the last page" becomes a reference to that note."""
    note = run.notes[index]
    text = tidy(join_paragraphs(note.text, words))
    see: tuple[ClauseId, ...] = ()
    if (other := _NOTE_OF_LAST_PAGE.search(text)) and note.page is not None:
        places = [k for k, n in enumerate(run.notes) if (n.page, n.mark) == (note.page - 1, other["mark"])]
        see = tuple(note_ids[k] for k in places if k in note_ids)
    return Clause(note_ids[index], "", text, see=see, file=file)


def definition_clauses(definitions: Sequence[Definition], file: str) -> list[Clause]:
    """The definitions as clauses, each with its English term in the heading; an entry within another refers to it."""
    clauses = []
    for entry in definitions:
        home = parse_clause_id(f"Def:{entry.english}")
        see = [entry.within, *(other.english for other in definitions if other.within and other.within == entry.english)]
        cut = entry is definitions[-1] and _is_cut(entry.meaning)
        clauses.append(
            Clause(
                home,
                tidy(f"{entry.term} ({entry.printed})"),
                tidy(entry.meaning.removesuffix(";")),
                see=tuple(parse_clause_id(f"Def:{english}") for english in see if english),
                complete=not cut,
                file=file,
            )
        )
    return clauses


def _is_cut(meaning: str) -> bool:
    """Whether a definition breaks off; the last one of a page may do without a full stop."""
    last = _LAST_WORD.search(meaning)
    return last is not None and not meaning.endswith(".") and (is_function_word(last[1]) or not in_dictionary(last[1]))


def definitions_chapter(heading: str, run: Run, words: Words, file: str) -> Clause:
    """The chapter of definitions as a clause: its heading, with its note for a text. Pages of it are missing."""
    notes = [run.notes[index] for index in note_indices(heading)]
    text = "\n".join(tidy(join_paragraphs(note.text, words)) for note in notes)
    return Clause(_DEFINITIONS, tidy(without_marks(heading)), text, complete=False, file=file)


def merge(copies: Iterable[Clause]) -> tuple[list[Clause], list[ClauseId]]:
    """One copy of each clause, and the ids that stood more than once.

    A whole copy is kept before a cut one, then the first given; it gets the references of all.
    """
    kept: dict[ClauseId, Clause] = {}
    twice: dict[ClauseId, None] = {}
    for copy in copies:
        other = kept.get(copy.id)
        if other is None:
            kept[copy.id] = copy
            continue
        twice[copy.id] = None
        best = copy if _worth(copy) > _worth(other) else other
        kept[copy.id] = replace(best, see=tuple(dict.fromkeys((*other.see, *copy.see))))
    return list(kept.values()), list(twice)


def _worth(clause: Clause) -> tuple[bool, int]:
    return clause.complete, 0 if clause.complete else len(clause.heading) + len(clause.text)


def with_references(clauses: Sequence[Clause]) -> list[Clause]:
    """The clauses with what their texts refer to in ``see``, behind what is there already."""
    known = {clause.id for clause in clauses}
    return [
        replace(c, see=tuple(dict.fromkeys((*c.see, *find_references(f"{c.heading}\n{c.text}", c.id, known))))) for c in clauses
    ]
