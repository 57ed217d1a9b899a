"""Cases on the server: what a device asked and was answered, so that a phone that slept or reloaded finds it again.

SQLite in the user's data folder, WAL, ``synchronous=FULL``; ``user_version`` numbers the schema. A device is a random id in
a cookie, not a person.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from index.errors import ContractError
from rag.log_entry import NOWHERE, Place
from rag.ruling import State, state_from_json

CASES_FILE = "cases.sqlite3"
"""Name of the file in the data folder."""
SCHEMA_VERSION = 2
_SCHEMA_1 = """
CREATE TABLE cases (id TEXT PRIMARY KEY, device TEXT NOT NULL, created TEXT NOT NULL);
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id), asked TEXT NOT NULL, question TEXT NOT NULL,
    ruling TEXT, notice TEXT NOT NULL DEFAULT '', done INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX turns_by_case ON turns(case_id);
CREATE TABLE shown (device TEXT PRIMARY KEY, case_id TEXT NOT NULL REFERENCES cases(id));
"""
# Where it happened, and which promises of the case were kept (a JSON list of their texts).
_SCHEMA_2 = """
ALTER TABLE cases ADD COLUMN at_table TEXT NOT NULL DEFAULT '';
ALTER TABLE cases ADD COLUMN board TEXT NOT NULL DEFAULT '';
ALTER TABLE cases ADD COLUMN kept TEXT NOT NULL DEFAULT '[]';
CREATE INDEX cases_by_device ON cases(device);
"""
_STEPS = (_SCHEMA_1, _SCHEMA_2)
RECENT = 30
"""Cases of a device that are listed."""
INTERRUPTED = "interrupted"
"""Notice of an answer that the server did not finish because it was stopped."""


@dataclass(frozen=True)
class CaseTurn:
    """One question of a case; ``ruling`` is the JSON of `rag.ruling.to_json`, ``None`` until the law cards are there."""

    id: int
    question: str
    ruling: dict[str, Any] | None
    notice: str
    done: bool
    asked: str = ""


@dataclass(frozen=True)
class Case:
    """One incident at one table, as the device sees it; ``kept`` are the promises made in it that were kept."""

    id: str
    turns: tuple[CaseTurn, ...]
    place: Place = NOWHERE
    kept: frozenset[str] = frozenset()

    @property
    def state(self) -> State | None:
        """What the next question of the case builds on."""
        for turn in reversed(self.turns):
            if turn.done and turn.ruling:
                return state_from_json(turn.ruling["state"])
        return None


class Cases:
    """The store. Every call opens its own connection, so that threads never share one.

    They take turns: SQLite lets whoever waits for its own lock try again now and then, and of twenty who wrote at once some
    gave up.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ContractError(f"The cases cannot be kept in {path.parent} ({error}); set TABLELAW_HOME.") from error
        with self._open() as db:
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version > SCHEMA_VERSION:
                raise ContractError(f"{path} was written by a newer Tablelaw; update the program.")
            if version < SCHEMA_VERSION:
                steps = "".join(_STEPS[version:])
                db.executescript(f"BEGIN; {steps} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
            db.execute("UPDATE turns SET done = 1, notice = ? WHERE done = 0", (INTERRUPTED,))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock, closing(sqlite3.connect(self._path, timeout=10)) as db, db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = FULL")
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA secure_delete = ON")
                yield db
        except sqlite3.DatabaseError as error:
            raise _unusable(self._path, error) from error

    def add_turn(self, device: str, question: str, continues: bool) -> int:
        """A new question of the case shown on the device, or of a new case; gives the turn's id."""
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self._open() as db:
            row = db.execute("SELECT case_id FROM shown WHERE device = ?", (device,)).fetchone()
            case_id = row[0] if row and continues else secrets.token_hex(8)
            db.execute("INSERT OR IGNORE INTO cases (id, device, created) VALUES (?, ?, ?)", (case_id, device, now))
            db.execute("INSERT OR REPLACE INTO shown VALUES (?, ?)", (device, case_id))
            insert = "INSERT INTO turns (case_id, asked, question) VALUES (?, ?, ?)"
            turn_id = db.execute(insert, (case_id, now, question)).lastrowid
        assert turn_id is not None
        return turn_id

    def save_turn(self, turn_id: int, ruling: dict[str, Any] | None, notice: str, done: bool) -> None:
        """Keep what is known of an answer so far."""
        text = json.dumps(ruling, ensure_ascii=False) if ruling else None
        with self._open() as db:
            update = "UPDATE turns SET ruling = ?, notice = ?, done = ? WHERE id = ?"
            db.execute(update, (text, notice, int(done), turn_id))

    def shown(self, device: str) -> Case | None:
        """The case that the device last looked at."""
        with self._open() as db:
            row = db.execute("SELECT case_id FROM shown WHERE device = ?", (device,)).fetchone()
            return _case(db, row[0]) if row else None

    def recent(self, device: str, since: datetime | None = None) -> tuple[Case, ...]:
        """The device's cases asked about last, newest first; ``since``: those alone that were asked about since then."""
        query = """SELECT c.id, max(t.id) AS last, max(t.asked) AS asked FROM cases c JOIN turns t ON t.case_id = c.id
            WHERE c.device = ? GROUP BY c.id HAVING asked >= ? ORDER BY last DESC LIMIT ?"""
        first = since.astimezone(timezone.utc).isoformat(timespec="seconds") if since else ""
        with self._open() as db:
            return tuple(_case(db, row[0]) for row in db.execute(query, (device, first, RECENT)).fetchall())

    def show(self, device: str, case_id: str) -> bool:
        """Show a case of the device's own; gives whether there is one."""
        with self._open() as db:
            if not _is_own(db, device, case_id):
                return False
            db.execute("INSERT OR REPLACE INTO shown VALUES (?, ?)", (device, case_id))
        return True

    def set_place(self, device: str, case_id: str, place: Place) -> bool:
        """Say where a case of the device's own happened; gives whether there is one."""
        with self._open() as db:
            if not _is_own(db, device, case_id):
                return False
            db.execute("UPDATE cases SET at_table = ?, board = ? WHERE id = ?", (place.table, place.board, case_id))
        return True

    def correct_place(self, case_id: str, place: Place) -> None:
        """Say where a case of whatever device happened, as it was corrected in the log; a case deleted meanwhile is none."""
        with self._open() as db:
            db.execute("UPDATE cases SET at_table = ?, board = ? WHERE id = ?", (place.table, place.board, case_id))

    def set_kept(self, device: str, case_id: str, promise: str, is_kept: bool) -> bool:
        """Mark a promise of a case of the device's own as kept, or not; gives whether there is such a case."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            if not _is_own(db, device, case_id):
                return False
            kept = set(json.loads(db.execute("SELECT kept FROM cases WHERE id = ?", (case_id,)).fetchone()[0]))
            kept = kept | {promise} if is_kept else kept - {promise}
            text = json.dumps(sorted(kept), ensure_ascii=False)
            db.execute("UPDATE cases SET kept = ? WHERE id = ?", (text, case_id))
        return True

    def place_of(self, case_id: str) -> Place:
        """Where a case happened."""
        with self._open() as db:
            row = db.execute("SELECT at_table, board FROM cases WHERE id = ?", (case_id,)).fetchone()
        return Place(*row) if row else NOWHERE

    def case_of(self, turn_id: int) -> str | None:
        """The case that a turn belongs to; ``None`` when it was deleted."""
        with self._open() as db:
            row = db.execute("SELECT case_id FROM turns WHERE id = ?", (turn_id,)).fetchone()
        return str(row[0]) if row else None

    def put_away(self, device: str) -> None:
        """Show no case on the device; the case itself stays."""
        with self._open() as db:
            db.execute("DELETE FROM shown WHERE device = ?", (device,))

    def delete(self, case_id: str) -> bool:
        """See `delete_case`."""
        return delete_case(self._path, case_id)


def _case(db: sqlite3.Connection, case_id: str) -> Case:
    table, board, kept = db.execute("SELECT at_table, board, kept FROM cases WHERE id = ?", (case_id,)).fetchone()
    query = "SELECT id, question, ruling, notice, done, asked FROM turns WHERE case_id = ? ORDER BY id"
    turns = (
        CaseTurn(number, question, json.loads(ruling) if ruling else None, notice, bool(done), asked)
        for number, question, ruling, notice, done, asked in db.execute(query, (case_id,))
    )
    return Case(case_id, tuple(turns), Place(table, board), frozenset(json.loads(kept)))


def _is_own(db: sqlite3.Connection, device: str, case_id: str) -> bool:
    return db.execute("SELECT 1 FROM cases WHERE id = ? AND device = ?", (case_id, device)).fetchone() is not None


def delete_case(path: Path, case_id: str) -> bool:
    """Delete a case for good from the cases in a file, whoever serves them; gives whether it was there."""
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(path, timeout=10)) as db:
            db.execute("PRAGMA secure_delete = ON")
            with db:
                db.execute("DELETE FROM shown WHERE case_id = ?", (case_id,))
                db.execute("DELETE FROM turns WHERE case_id = ?", (case_id,))
                was_there = db.execute("DELETE FROM cases WHERE id = ?", (case_id,)).rowcount > 0
            if was_there:  # earlier versions left copies of growing answers in free pages
                db.execute("VACUUM")
            is_busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise _unusable(path, error) from error
    if is_busy:
        raise ContractError(
            f"What was deleted may still be in {path}-wal, as another program reads it; delete it again in a minute."
        )
    return was_there


def _unusable(path: Path, error: sqlite3.DatabaseError) -> ContractError:
    return ContractError(
        f"The cases in {path} cannot be used ({error}); free some space, or move the file away and start again."
    )
