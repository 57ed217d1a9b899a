"""Small invented texts of the shapes that the readers of the 1987 Laws know, read as a person would look at them."""

from __future__ import annotations

from index.readers.commentary import read_commentary_dc4
from index.readers.laws1987 import read_laws_1987
from index.readers.reading import Reading, SourceFile
from index.types import Clause


def read(*texts: str) -> Reading:
    """The texts as so many files of one book of laws."""
    return read_laws_1987([SourceFile(f"{k}.txt", (text,)) for k, text in enumerate(texts)])


def laws(*texts: str) -> dict[str, Clause]:
    """The clauses of the texts by id."""
    return {str(clause.id): clause for clause in read(*texts).clauses}


def comments(text: str) -> dict[str, Clause]:
    """The clauses of a commentary by id."""
    return {str(clause.id): clause for clause in read_commentary_dc4([SourceFile("c.txt", (text,))]).clauses}


def see(clause: Clause) -> list[str]:
    """What a clause refers to."""
    return [str(ref) for ref in clause.see]


def lines(*parts: str) -> str:
    """Lines with an empty one between two, as in the Cyrillic copies."""
    return "\n\n".join(parts)


def law(number: int, title: str, rest: str = "", rule: str = "?") -> str:
    """A law in the shape of the Cyrillic copies: heading and underline, then the rest in the same line."""
    heading = f"Правило {number}. {title}"
    return f"{heading}\n\n{rule * len(heading)} {rest}".strip()
