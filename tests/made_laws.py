"""Invented laws of a game with pebbles, printed in every form that an import reads: PDF, Word, HTML and text."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CHAPTER = "CHAPTER ONE - THE GAME"
RUNNING_HEAD = "The Laws of Pebbles"


@dataclass(frozen=True)
class Part:
    """A clause as it is printed: its level (0 the law), the mark before it, its heading and its paragraphs."""

    level: int
    mark: str
    heading: str = ""
    paragraphs: tuple[str, ...] = ()
    note: str = ""

    @property
    def printed(self) -> list[str]:
        """The paragraphs as they stand in a book, the mark before the first."""
        first, *rest = (*((self.heading,) if self.heading else ()), *self.paragraphs, "")
        return [line for line in (f"{self.mark} {first}".strip(), *rest) if line]


LAWS: tuple[tuple[str, Part], ...] = tuple(
    (clause_id, part)
    for clause_id, part in (
        ("1", Part(0, "Law 1.", "The pack of pebbles")),
        ("1A", Part(1, "A.", "Number of pebbles")),
        (
            "1A1",
            Part(
                2,
                "1.",
                "",
                ("A full pack holds forty pebbles of four colours, and one jar for every participant at the table.",),
            ),
        ),
        (
            "1A2",
            Part(
                2,
                "2.",
                "",
                ("Before play begins every participant counts his pebbles, face downward, without looking at them.",),
            ),
        ),
        ("1A2(a)", Part(3, "(a)", "", ("A superfluous pebble is returned to the jar immediately, and nobody is penalized;",))),
        (
            "1A2(b)",
            Part(3, "(b)", "", ("a missing pebble is searched for, first underneath the table and afterwards in the jars:",)),
        ),
        ("1A2(b)(i)", Part(4, "(i)", "", ("those of the neighbours come first;",))),
        ("1A2(b)(ii)", Part(4, "(ii)", "", ("those of the spectators come last (see Law 3B).",))),
        (
            "1B",
            Part(
                1,
                "B.",
                "Ranking of colours",
                (
                    "The colours rank downward in the following order: white, grey, green, black.",
                    "Nobody may rearrange or recolour pebbles during a round, nor may a non-participant do it for him.",
                ),
            ),
        ),
        ("2", Part(0, "Law 2.", "Rotation of turns")),
        (
            "2A",
            Part(
                1,
                "A.",
                "Order of play",
                ("The turn passes clockwise. A participant who moves prematurely forfeits it* unless it was accepted.",),
                note="* A forfeited turn is not made good in the following round.",
            ),
        ),
        (
            "2B",
            Part(1, "B.", "Counting aloud", ("A participant counts his pebbles aloud whenever the Judge demands it of him.",)),
        ),
        (
            "3",
            Part(
                0,
                "Law 3.",
                "Conclusion of the game",
            ),
        ),
        ("3A", Part(1, "A.", "Last pebble", ("The game is concluded when no pebbles whatsoever remain in any of the jars.",))),
        (
            "3B",
            Part(
                1,
                "B.",
                "Ties",
                ("Between participants with equally many pebbles the white ones are decisive, afterwards a coin.",),
            ),
        ),
    )
)
NOTES = {"2A#fn": "A forfeited turn is not made good in the following round."}


def expected() -> dict[str, tuple[str, str]]:
    """Heading and text of every clause, by id."""
    clauses = {clause_id: (part.heading, "\n\n".join(part.paragraphs)) for clause_id, part in LAWS}
    return clauses | {clause_id: ("", text) for clause_id, text in NOTES.items()}


def text_of_laws(word: str = "Law") -> str:
    """The laws as a text, an empty line after every paragraph; ``word`` is what a law is called."""
    return "\n\n".join(line.replace("Law ", f"{word} ", 1) if part.level == 0 else line for part, line in _lines()) + "\n"


def _lines() -> Iterator[tuple[Part, str]]:
    for _, part in LAWS:
        yield from ((part, line) for line in (*part.printed, part.note) if line)


def html_of_laws() -> str:
    """The laws as a web page with a menu, a script and a table of the site around them."""
    tags = ("h2", "h3", "p", "p", "p")
    body = "\n".join(f"<{tags[part.level]}>{html.escape(line)}</{tags[part.level]}>" for part, line in _lines())
    return (
        f"<!doctype html><html><head><meta charset='utf-8'><title>Pebbles</title><script>var law = 'Law 9';</script></head>"
        f"<body><nav><a href='/'>Law 7</a></nav><header>{RUNNING_HEAD}</header>{body}<footer>Law 8</footer></body></html>"
    )


def write_docx(path: Path, automatic: bool = False) -> Path:
    """The laws as a Word file; ``automatic``: their numbers are not in the text but made by Word."""
    import docx

    document = docx.Document()
    if automatic:
        _add_numbering(document)
    for _, part in LAWS:
        for k, line in enumerate(part.printed):
            if automatic and k == 0:
                _numbered(document.add_paragraph(line.removeprefix(part.mark).strip()), part.level)
            else:
                document.add_paragraph(line)
        if part.note:
            document.add_paragraph(part.note)
    document.save(str(path))
    return path


_FORMS = (("decimal", "Law %1."), ("upperLetter", "%2."), ("decimal", "%3."), ("lowerLetter", "(%4)"), ("lowerRoman", "(%5)"))


def _add_numbering(document) -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    levels = "".join(
        f'<w:lvl w:ilvl="{k}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for k, (form, text) in enumerate(_FORMS)
    )
    numbering = document.part.numbering_part.element
    numbering.insert(0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'))


def _numbered(paragraph, level: int) -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    properties = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="77"/></w:numPr>'
    paragraph._p.get_or_add_pPr().append(parse_xml(properties))


@dataclass
class PdfPrinter:
    """Prints paragraphs in columns, hyphenating wherever a word does not fit, with running heads and page numbers."""

    path: Path
    columns: int = 1
    height: float = 300
    heads: bool = True
    encrypt: str | None = None
    first_page: int = 7
    _notes: list[str] = field(default_factory=list)

    def print(self, parts: Sequence[Part], chapter: str = CHAPTER) -> Path:
        """Print the parts; gives the path of the PDF."""
        from reportlab.pdfgen.canvas import Canvas

        self._canvas = Canvas(str(self.path), pagesize=(420, self.height), encrypt=self.encrypt)
        self._page, self._column = self.first_page, 0
        self._top()
        self._paragraph(chapter, "Times-Roman", 11, 10)
        for part in parts:
            for k, line in enumerate(part.printed):
                is_heading = bool(part.heading) and k == 0
                font = "Times-Roman" if not is_heading else "Times-Bold" if part.level else "Helvetica-Bold"
                self._paragraph(line, font, 13 if is_heading and part.level == 0 else 10, 8 if k == 0 else 5)
            if part.note:
                self._notes.append(part.note)
        self._end_page()
        self._canvas.save()
        return self.path

    @property
    def _width(self) -> float:
        return 310 if self.columns == 1 else 160

    def _top(self) -> None:
        self._y = self.height - 60

    def _end_page(self) -> None:
        y = 62.0
        for note in self._notes:
            self._canvas.setFont("Times-Roman", 7)
            self._canvas.drawString(40, y, note)
            y -= 8
        self._notes.clear()
        if self.heads:
            self._canvas.setFont("Times-Italic", 8)
            self._canvas.drawString(40, self.height - 30, RUNNING_HEAD if self._page % 2 else "For the table")
            self._canvas.drawCentredString(210, 25, f"- {self._page} -")
        self._canvas.showPage()
        self._page += 1

    def _paragraph(self, text: str, font: str, size: float, before: float) -> None:
        self._y -= before
        for line in _broken(text, font, size, self._width):
            if self._y < 80:
                self._next_column()
            self._canvas.setFont(font, size)
            self._canvas.drawString(40 + self._column * 180, self._y, line)
            self._y -= size * 1.2

    def _next_column(self) -> None:
        self._column += 1
        if self._column == self.columns:
            self._column = 0
            self._end_page()
        self._top()


def _broken(text: str, font: str, size: float, width: float) -> list[str]:
    """The text in lines of that width; a long word that does not fit is hyphenated."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    lines, line = [], ""
    for word in text.split(" "):
        rest = word
        while stringWidth(f"{line} {rest}".strip(), font, size) > width:
            cut = next(
                (k for k in range(len(rest) - 3, 2, -1) if stringWidth(f"{line} {rest[:k]}-".strip(), font, size) <= width), 0
            )
            if cut and rest.isalpha() and len(rest) > 7:
                line, rest = f"{line} {rest[:cut]}-".strip(), rest[cut:]
            lines.append(line)
            line = ""
        line = f"{line} {rest}".strip()
    return [*lines, line]


def print_laws(path: Path, columns: int = 1, **options: object) -> Path:
    """The laws as a PDF of small pages."""
    return PdfPrinter(path, columns, **{"height": 300 if columns == 1 else 240, **options}).print([part for _, part in LAWS])  # type: ignore[arg-type]
