"""The ruling log: every answer as it was given, with the law text as it was shown; corrections are new revisions.

SQLite in the user's data folder, WAL, ``synchronous=FULL``: what a call has returned from survives a crash. ``user_version``
numbers the schema. ``secure_delete`` is on from the start, so that what is deleted leaves no copy in the file. Files to read
or print are made by `rag.log_export`, `rag.log_gold` and `rag.page.appeal`.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from index import paths
from index.errors import ContractError
from rag.log_entry import NOWHERE, Correction, Entry, Place, utc_text
from rag.log_schema import migrate

_COLUMNS = "case_id turn revision time question ruling hashes notice at_table board note verdict why players".split()
_READ = ", ".join(f"e.{column}" for column in _COLUMNS)
_MADE_OF_JSON = ("ruling", "hashes", "players")
_IS_LATEST = """NOT EXISTS (SELECT 1 FROM entries n WHERE n.case_id = e.case_id AND n.turn = e.turn
    AND n.revision > e.revision)"""
_PAGE = 500
"""Entries read at once where all are gone through."""


@dataclass(frozen=True)
class LogSettings:
    """What is kept: names of players or not, and cases for so many days after their last entry (``None``: for ever)."""

    keep_names: bool = False
    retention_days: int | None = None


def log_path() -> Path:
    """Where the log of this machine lies."""
    return paths.data_dir() / "log.sqlite3"


def open_log() -> Log:
    """The log of this machine. Raises `ContractError` when it cannot be used."""
    return Log(log_path())


class UnknownCase(ContractError):
    """A case, or a question of it, that the log does not have."""


class Log:
    """The store. Every call opens its own connection, so that threads and programs never share one.

    Every method raises `ContractError` when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ContractError(f"The log cannot be kept in {path.parent} ({error}); set TABLELAW_HOME.") from error
        with self._open() as db:
            migrate(db, path)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=10, isolation_level=None)) as db, db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                db.execute("PRAGMA secure_delete = ON")
                yield db
        except sqlite3.DatabaseError as error:
            raise ContractError(
                f"The log in {self._path} cannot be used ({error}); free some space, or move the file away and start again."
            ) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: whole on the disk when the block is left, or nothing of it."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db

    # Writing

    def record(
        self,
        case: str,
        turn: int,
        question: str,
        ruling: Mapping[str, Any],
        hashes: Mapping[str, str],
        notice: str = "",
        place: Place = NOWHERE,
    ) -> Entry:
        """Keep an answer: as the first revision of its turn, or as the next, with the table, board, note and players so far.

        ``place`` is where the case happened, for a first revision: a later one has what was written down meanwhile.
        """
        as_read = json.loads(json.dumps(ruling, ensure_ascii=False))
        with self._writing() as db:
            before = _latest(db, case, turn)
            entry = Entry(case, turn, 1, _now(), question, as_read, dict(hashes), notice, place.table, place.board)
            if before:
                kept = {name: getattr(before, name) for name in ("table", "board", "note", "players")}
                entry = replace(entry, revision=before.revision + 1, **kept)
            return _insert(db, entry)

    def correct(self, case: str, turn: int, correction: Correction) -> Entry:
        """Set what the correction says in a new revision; what changes nothing writes nothing. Gives the latest revision.

        Raises `UnknownCase` when the log does not have the question.
        """
        with self._writing() as db:
            before = _latest(db, case, turn)
            if before is None:
                raise _no_case(f"{case}, question {turn}")
            changes = correction.changes
            if not _settings(db).keep_names:
                changes.pop("players", None)
            after = replace(before, **changes)
            return before if after == before else _insert(db, replace(after, revision=before.revision + 1, time=_now()))

    def add(self, entries: Iterable[Entry]) -> int:
        """Add entries of another log, all or none; those that are here already are passed over. Gives how many were added.

        Raises `ContractError` where this log has another entry under the same case, question and revision.
        """
        added = 0
        with self._writing() as db:
            for entry in entries:
                where = "e.case_id = ? AND e.turn = ? AND e.revision = ?"
                here = next(_entries(db, where, (entry.case, entry.turn, entry.revision)), None)
                if here is None:
                    _insert(db, entry)
                    added += 1
                elif replace(here, players={}) != replace(entry, players={}):
                    raise ContractError(
                        f"Case {entry.case}, question {entry.turn}, revision {entry.revision} stands differently in this log; "
                        "nothing was imported."
                    )
        return added

    # Reading

    def find(  # noqa: PLR0913 - one argument a filter
        self,
        *,
        text: str = "",
        table: str = "",
        board: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        status: str = "",
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[Entry, ...]:
        """The latest revisions, newest first. ``text``: words, or their beginnings, of question, answer, note and numbers.

        ``since`` is the first moment that counts, ``until`` the first that does not.
        """
        where, values = [_IS_LATEST], list[Any]()
        if text.strip():
            # The plus has SQLite go by time until a page is full, instead of fetching and sorting all that have a common word.
            where.append("+e.id IN (SELECT rowid FROM words WHERE words MATCH ?)")
            values.append(_match(text))
        for condition, value in (("e.at_table = ?", table), ("e.board = ?", board), ("e.status = ?", status)):
            if value:
                where.append(condition)
                values.append(value)
        for condition, moment in (("e.time >= ?", since), ("e.time < ?", until)):
            if moment:
                where.append(condition)
                values.append(utc_text(moment))
        order = "ORDER BY e.time DESC, e.id DESC"
        wanted = f"SELECT e.id FROM entries e WHERE {' AND '.join(where)} {order} LIMIT ? OFFSET ?"  # noqa: S608
        with self._open() as db:  # chosen by number first, so that only the rulings of one page are read
            return tuple(_entries(db, f"e.id IN ({wanted}) {order}", (*values, limit, offset)))

    def case(self, case: str) -> tuple[Entry, ...]:
        """All revisions of a case, by question and revision. Raises `UnknownCase` when the log does not have it."""
        with self._open() as db:
            found = tuple(_entries(db, "e.case_id = ? ORDER BY e.turn, e.revision", (case,)))
        if not found:
            raise _no_case(case)
        return found

    def turns_of(self, case: str) -> tuple[int, ...]:
        """The questions of a case that the log has."""
        with self._open() as db:
            return tuple(row[0] for row in db.execute("SELECT DISTINCT turn FROM entries WHERE case_id = ?", (case,)))

    def entries(self) -> Iterator[Entry]:
        """All revisions of all cases, in the order in which they were written."""
        last = 0
        while True:
            with self._open() as db:
                query = "SELECT id FROM entries WHERE id > ? ORDER BY id LIMIT ?"
                ids = [row[0] for row in db.execute(query, (last, _PAGE))]
                if not ids:
                    return
                found = tuple(_entries(db, "e.id > ? AND e.id <= ? ORDER BY e.id", (last, ids[-1])))
            yield from found
            last = ids[-1]

    def judged(self) -> tuple[Entry, ...]:
        """Of each question the last ruling that there is feedback on, unless that was taken back."""
        where = """e.verdict != '' AND NOT EXISTS (SELECT 1 FROM entries n WHERE n.case_id = e.case_id AND n.turn = e.turn
            AND n.revision > e.revision AND (n.verdict != '' OR n.ruling = e.ruling)) ORDER BY e.id"""
        with self._open() as db:
            return tuple(_entries(db, where, ()))

    # Settings and forgetting

    def settings(self) -> LogSettings:
        """What is kept."""
        with self._open() as db:
            return _settings(db)

    def set_settings(self, settings: LogSettings) -> None:
        """Change what is kept, from now on: names that are in the log stay until their case is deleted."""
        if settings.retention_days is not None and settings.retention_days < 1:
            raise ContractError(f"The log cannot be kept for {settings.retention_days} days; give 1 or more, or none for ever.")
        with self._writing() as db:
            rows = [("keep_names", settings.keep_names), ("retention_days", settings.retention_days)]
            db.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", [(name, json.dumps(value)) for name, value in rows])

    def forget(self, older_than: datetime) -> tuple[str, ...]:
        """Delete for good every case that has no entry since; gives their ids."""
        query = "SELECT case_id FROM entries GROUP BY case_id HAVING max(time) < ?"
        with self._open() as db:
            cases = tuple(row[0] for row in db.execute(query, (utc_text(older_than),)))
        if cases:
            self._delete(cases)
        return cases

    def expire(self) -> tuple[str, ...]:
        """Forget what is older than the setting allows; gives the ids of the cases that are gone."""
        days = self.settings().retention_days
        return () if days is None else self.forget(datetime.now(timezone.utc) - timedelta(days=days))

    def delete(self, case: str) -> int:
        """Delete a case for good: its rows and their bytes in the file; gives how many revisions it had."""
        return self._delete((case,))

    def _delete(self, cases: Sequence[str]) -> int:
        gone = 0
        with self._writing() as db:
            for case in cases:
                db.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM entries WHERE case_id = ?)", (case,))
                gone += db.execute("DELETE FROM entries WHERE case_id = ?", (case,)).rowcount
            # Deleting from the text index only marks; merging it into one piece drops what is marked.
            db.execute("INSERT INTO words(words) VALUES ('optimize')")
        with self._open() as db:
            is_busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if is_busy:
            raise ContractError(
                f"What was deleted may still be in {self._path}-wal, as another program reads it; delete it again in a minute."
            )
        return gone


def _entries(db: sqlite3.Connection, where: str, values: Sequence[Any]) -> Iterator[Entry]:
    for row in db.execute(f"SELECT {_READ} FROM entries e WHERE {where}", values):  # noqa: S608 - no part is typed by anyone
        found = dict(zip(_COLUMNS, row, strict=True))
        found |= {name: json.loads(found[name]) for name in _MADE_OF_JSON}
        yield Entry(case=found.pop("case_id"), table=found.pop("at_table"), **found)


def _latest(db: sqlite3.Connection, case: str, turn: int) -> Entry | None:
    where = "e.case_id = ? AND e.turn = ? ORDER BY e.revision DESC LIMIT 1"
    return next(_entries(db, where, (case, turn)), None)


def _insert(db: sqlite3.Connection, entry: Entry) -> Entry:
    """Write an entry, without the players where names are not kept; gives it as written."""
    if not _settings(db).keep_names:
        entry = replace(entry, players={})
    row = {column: getattr(entry, {"case_id": "case", "at_table": "table"}.get(column, column)) for column in _COLUMNS}
    row |= {name: json.dumps(row[name], ensure_ascii=False) for name in _MADE_OF_JSON}
    row["status"] = entry.status
    names, places = ", ".join(row), ", ".join("?" * len(row))
    new = db.execute(f"INSERT INTO entries ({names}) VALUES ({places})", tuple(row.values()))  # noqa: S608
    told = (entry.question, entry.ruling["answer"], *entry.ruling["cites"], entry.note, entry.why)
    db.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (new.lastrowid, "\n".join(told)))
    return entry


def _settings(db: sqlite3.Connection) -> LogSettings:
    return LogSettings(**{name: json.loads(value) for name, value in db.execute("SELECT name, value FROM settings")})


def _match(text: str) -> str:
    """A query of the text index: every word of the text, or a longer one that begins so; never the index's own syntax."""
    return " ".join(f'"{word}"*' for word in re.findall(r"\w+", text)) or '""'


def _now() -> str:
    return utc_text(datetime.now(timezone.utc))


def _no_case(case: str) -> UnknownCase:
    return UnknownCase(f'The log has no case "{case[:60]}"; see: tablelaw log list')
