"""What the command line prints for people: laws, rulings, tables and progress, through rich."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import TracebackType
from typing import Any

from rich import box
from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text
from typing_extensions import Self

from index.import_report import ImportReport
from index.types import Book, Clause
from rag.desk import Update
from rag.ruling import Ruling
from rag.strings import authority, strings

_SHOWN_IDS = 20
"""Ids of each kind that an import report shows."""
_OUT = Console(highlight=False, soft_wrap=False)
_ERR = Console(stderr=True, highlight=False, soft_wrap=True)


def err(line: str) -> None:
    """One line on stderr, whatever line ends the message of a library brought along."""
    _ERR.print(" ".join(line.split()), markup=False)


def print_lan(urls: Sequence[str], pin: str, join: str) -> None:
    """How other devices find the page: its addresses, the PIN, and on a terminal the QR code of the first address."""
    if not urls:
        err("This machine has no address in a private network: join the club's network with it; then see the page below.")
    for url in urls:
        err(f"On the club's network: {url}")
    err(f"PIN: {pin} (asked once on each device); {join} shows it on this machine, with the QR code.")
    if urls and _ERR.is_terminal:
        from rag.page.lan import drawn  # the command line starts without it

        _ERR.print(Text(drawn(urls[0]), style="bright_white on black"))


class Bar:
    """A progress bar on stderr that appears with the first progress and leaves nothing behind."""

    def __init__(self, title: str, unit: str = "items") -> None:
        self._title = title
        columns = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), columns, TimeRemainingColumn(), console=_ERR, transient=True
        )
        self._bar.disable = not _ERR.is_terminal
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._task is not None:
            self._bar.stop()

    def progress(self, done: int, total: int) -> None:
        """Show ``done`` of ``total`` (0: unknown)."""
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=total or None)
        self._bar.update(self._task, completed=done, total=total or None)


def print_clauses(book: Book, found: Clause | None, clauses: Sequence[Clause]) -> None:
    """A branch of the book, indented by level, with the headings above it and the line that says whose wording it is."""
    base = 0
    if found is not None:
        above = book.heading_path(found).split(" > ")[:-1]
        if above:
            _OUT.print(Text(" > ".join(above), style="dim"))
        base = _level(found)
    for clause in clauses:
        indent = 2 * max(0, _level(clause) - base)
        head = Text.assemble((str(clause.id), "bold cyan"), "  ", (clause.heading, "bold"))
        _OUT.print(Padding(head, (0, 0, 0, indent)))
        if clause.text:
            # imported text is no Markdown: its stars and number signs are its own
            text = Text(clause.text) if book.source == "imported" else Markdown(clause.text)
            _OUT.print(Padding(text, (0, 0, 1, indent + 2)))
    print_authority("en", book.edition, book.wording)


def print_answer(updates: Iterable[Update]) -> Update:
    """An answer while it grows: each checked sentence with its clause numbers, then the clauses, then who rules.

    Gives the last update.
    """
    update: Update | None = None
    shown = 0
    for update in updates:
        ruling = update.ruling
        if not shown and ruling.sentences:
            _print_status(ruling)
        for sentence in ruling.sentences[shown:]:
            _OUT.print(Text.assemble(sentence.text, " ", (f"[{'; '.join(sentence.cites)}]", "bold cyan")))
        shown = len(ruling.sentences)
    assert update is not None
    _print_rest(update)
    return update


def _print_status(ruling: Ruling) -> None:
    _OUT.print(Text(strings(ruling.lang)[f"status_{ruling.status}"], style="bold"))


def _print_rest(update: Update) -> None:
    """What follows the sentences, once all of them are there."""
    ruling = update.ruling
    text = strings(ruling.lang)
    if not ruling.sentences:
        _print_status(ruling)
        _OUT.print(Text(ruling.answer))
    if update.notice:
        _OUT.print(Text(update.notice, style="dim"))
    not_covered = ruling.status == "not-covered"
    _OUT.print(Text("\n" + text["nearest_heading" if not_covered else "laws_heading"], style="bold"))
    print_hits([{"id": law.id, "heading": law.heading, "text": law.text} for law in ruling.laws])
    source = ruling.laws[0].source if ruling.laws else "restated"
    print_authority(ruling.lang, ruling.edition, source)


def print_authority(lang: str, edition: str, wording: str) -> None:
    """The line that says who rules, which edition, and whose wording was shown."""
    _OUT.print(Text("\n" + authority(lang, edition, wording), style="dim"))


def print_rulings(ruling: Ruling) -> None:
    """What a procedure rules: the parts in their order, or the fact to be asked; then the rulings that follow."""
    text = strings(ruling.lang)
    _OUT.print(Text.assemble((f"{text[f'status_{ruling.status}']}: ", "bold"), (ruling.question, "bold")))
    for part, sentences in groupby(ruling.sentences, key=lambda sentence: sentence.part):
        _OUT.print(Text(text[f"part_{part}"], style="dim"))
        for sentence in sentences:
            cites = "" if part == "say" else f" [{'; '.join(sentence.cites)}]"
            _OUT.print(Padding(Text.assemble(sentence.text, (cites, "bold cyan")), (0, 0, 0, 2)))
    for asked in ruling.ask:
        _OUT.print(Padding(Text(f"{asked.question}  --fact {asked.fact}={'|'.join(asked.options)}"), (0, 0, 0, 2)))
    for second in ruling.then:
        print_rulings(second)
    if ruling.laws and ruling.sentences:
        print_authority(ruling.lang, ruling.edition, ruling.laws[0].source)


def print_hits(hits: Sequence[Mapping[str, Any]]) -> None:
    """Clauses found, best first."""
    for hit in hits:
        score = f"  {hit['score']:.3f}" if "score" in hit else ""
        _OUT.print(Text.assemble((hit["id"], "bold cyan"), (f"{score}  {hit['heading']}", "dim")))
        _OUT.print(Padding(Text(hit["text"]), (0, 0, 0, 2)))


def print_import(report: ImportReport) -> None:
    """What an import found and what to look at before trusting it; long lists are cut short (``--json`` has them whole)."""
    rows = [("source", f"{source.name}: {source.form}, pages: {source.pages}") for source in report.sources]
    rows.append(("clauses", f"{report.clauses}, of them footnotes: {report.footnotes}; laws: {report.laws}"))
    for title, ids in _lists(report):
        if ids:
            rows.append((title, " ".join(ids[:_SHOWN_IDS]) + (" ..." if len(ids) > _SHOWN_IDS else "") + f" ({len(ids)})"))
    unreadable = [f"{source.name} p. {page}" for source in report.sources for page in source.unreadable]
    if unreadable:
        rows.append(("unreadable pages", ", ".join(unreadable[:_SHOWN_IDS]) + f" ({len(unreadable)})"))
    rows.append(("unassigned", f"{100 * report.unassigned_share:.1f}% of the text"))
    rows += [("", f"| {line}") for line in report.unassigned]
    rows.append(("stored", report.stored or "no, this was a dry run"))
    for name, value in rows:
        _OUT.print(Text.assemble((f"{name:<18}", "bold"), value), soft_wrap=True)


def _lists(report: ImportReport) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("only in part", report.incomplete),
        ("missing numbers", report.gaps),
        ("not in edition", report.outside),
        ("given twice", report.twice),
        ("without text", report.empty),
        ("very short", report.short),
        ("very long", report.long),
    )


def print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The named columns of rows as a table."""
    table = Table(*columns, box=box.SIMPLE)
    for row in rows:
        table.add_row(*(Text(str(row[column])) for column in columns))  # text, for a title is no markup
    _OUT.print(table)


def _level(clause: Clause) -> int:
    return len(clause.id.ancestors())
