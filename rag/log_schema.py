"""The tables of the ruling log, and how a file of an older version comes to those of today."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from index.errors import ContractError

MIGRATIONS: tuple[str, ...] = (
    """
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, turn INTEGER NOT NULL, revision INTEGER NOT NULL, time TEXT NOT NULL,
    question TEXT NOT NULL, ruling TEXT NOT NULL, hashes TEXT NOT NULL, notice TEXT NOT NULL, at_table TEXT NOT NULL,
    board TEXT NOT NULL, note TEXT NOT NULL, verdict TEXT NOT NULL, why TEXT NOT NULL, players TEXT NOT NULL,
    status TEXT NOT NULL, UNIQUE (case_id, turn, revision)
);
CREATE INDEX entries_by_time ON entries(time, id);
CREATE INDEX entries_by_table ON entries(at_table, time, id);
CREATE INDEX entries_by_board ON entries(board, time, id);
CREATE INDEX entries_by_status ON entries(status, time, id);
CREATE INDEX entries_by_case ON entries(case_id, time);
CREATE INDEX entries_judged ON entries(case_id, turn, revision) WHERE verdict != '';
CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are not changed'); END;
CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61');
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
""",
)
"""Each brings a file of the version of its place to the next one; they are only ever added to."""


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the file to the schema of today, all steps in one transaction, or leave it as it is.

    Raises `ContractError` for a file that a newer program wrote, `sqlite3.DatabaseError` for one that cannot be used.
    """
    if _version(db, path) == len(MIGRATIONS):
        return
    db.execute("BEGIN IMMEDIATE")
    for script in MIGRATIONS[_version(db, path) :]:  # another program may have done it meanwhile
        for statement in _statements(script):
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _version(db: sqlite3.Connection, path: Path) -> int:
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise ContractError(f"{path} was written by a newer Tablelaw; update the program.")
    return version


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit what came before."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
