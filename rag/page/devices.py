"""Devices that have given the PIN: each holds a long random token, and only its hash is kept here, across restarts."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from index.errors import ContractError

DEVICES_FILE = "devices.json"
"""Name of the file in the data folder; delete it, and every device is asked for the PIN again."""
KEPT_DAYS = 365
"""Days that a device is known; its cookie lives as long."""
VERSION = 1
_TOKEN_BYTES = 32


class Devices:
    """The devices known to this machine. One server writes the file at a time (`app.serve_page` sees to it)."""

    def __init__(self, path: Path, say: Callable[[str], None]) -> None:
        """Raises `ContractError` when the file is damaged."""
        self._path = path
        self._say = say
        self._known = _read(path)

    def add(self) -> str:
        """Make a token for one more device, and keep its hash."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._known[_hash(token)] = _today()
        try:
            _write(self._path, self._known)
        except OSError as error:  # the director at the table is let in all the same
            self._say(
                f"{self._path} cannot be written ({error.strerror}): after a restart a device is asked for the PIN again."
            )
        return token

    def knows(self, token: str | None) -> bool:
        """Whether a device with that token has given the PIN."""
        return token is not None and _hash(token) in self._known


def _hash(token: str) -> str:
    """A plain hash will do: nobody guesses 256 random bits."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _today() -> date:
    return datetime.now(timezone.utc).date()


def _read(path: Path) -> dict[str, date]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            raise ContractError(f"{path} was written by another version of Tablelaw; delete it, and the PIN is asked again.")
        known = {str(token): date.fromisoformat(added) for token, added in data["devices"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ContractError(f"{path} is damaged ({type(error).__name__}); delete it, and the PIN is asked again.") from error
    oldest = _today() - timedelta(days=KEPT_DAYS)
    return {token: added for token, added in known.items() if added > oldest}


def _write(path: Path, known: dict[str, date]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    data = {"version": VERSION, "devices": {token: added.isoformat() for token, added in known.items()}}
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(data, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)
