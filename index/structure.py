"""What of a book and its rows the features of search need (`index.ranking`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from index.clause_id import ClauseId
from index.types import Asked, Book


@dataclass(frozen=True)
class Structure:
    """What of a book and its rows the features need; positions are those of its clauses.

    ``row_line`` is the asked-as line of each row, ``None`` for a row of a clause's text.
    """

    book: Book
    row_line: tuple[Asked | None, ...]
    law: NDArray[np.int64]
    has_text: NDArray[np.float64]
    lines: NDArray[np.float64]

    @cached_property
    def row_also(self) -> tuple[tuple[int, ...], ...]:
        """For each row, the positions of the other clauses that its line needs."""
        needed = (line.also if line else () for line in self.row_line)
        return tuple(tuple(self.position[one] for one in also if one in self.position) for also in needed)

    @cached_property
    def position(self) -> Mapping[ClauseId, int]:
        """Clause -> its position."""
        return {clause.id: k for k, clause in enumerate(self.book.clauses)}

    def of_law(self, values: NDArray[np.float64], best: bool = False) -> NDArray[np.float64]:
        """For each clause, the sum over the clauses of its law, or their best."""
        out = np.full(int(self.law.max()) + 1, -np.inf if best else 0.0)
        (np.maximum if best else np.add).at(out, self.law, values)
        return np.asarray(out[self.law])


def structure_of(book: Book, row_clause: NDArray[np.int64], row_asked: NDArray[np.bool_]) -> Structure:
    """The structure of a book and its rows (see `index.store.SearchIndex`)."""
    lines = [iter(clause.asked) for clause in book.clauses]
    rows = zip(row_clause, row_asked, strict=True)
    _, law = np.unique([clause.id.law or 1000 + k for k, clause in enumerate(book.clauses)], return_inverse=True)
    return Structure(
        book=book,
        row_line=tuple(next(lines[clause]) if is_asked else None for clause, is_asked in rows),
        law=np.asarray(law, dtype=np.int64),
        has_text=np.array([float(bool(clause.text)) for clause in book.clauses]),
        lines=np.array([len(clause.asked) / 10 for clause in book.clauses]),
    )
