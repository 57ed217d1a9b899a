"""What a model has computed for the beginning of a prompt, kept: in memory, and on disk beside the indexes.

A state is bound by its key to the model, the library and the tokens it was computed from, and checked by its hash when it is
read: one that is damaged is dropped, and computed anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

import cachetools
import diskcache

MEMORY_BYTES = 256 << 20
DISK_BYTES = 1 << 30
_CULL = 2
"""States dropped at a time when the disk part is full: each is a Law's worth of work, and there are few of them."""
_DIGEST = 16
_FAULTS = (OSError, sqlite3.Error, diskcache.Timeout)


class Prefixes:
    """States by key, those used longest ago dropped first; ``hits`` and ``misses`` count what `get` found.

    A disk that is full or cannot be written costs the disk part only.
    """

    def __init__(self, folder: Path, memory_bytes: int = MEMORY_BYTES, disk_bytes: int = DISK_BYTES) -> None:
        self.hits = self.misses = 0
        self._memory: cachetools.LRUCache[str, bytes] = cachetools.LRUCache(memory_bytes, getsizeof=len)
        self._disk: diskcache.Cache | None = None
        try:
            self._disk = diskcache.Cache(
                str(folder), size_limit=disk_bytes, cull_limit=_CULL, eviction_policy="least-recently-used"
            )
        except _FAULTS:
            self._disk = None

    def get(self, key: str) -> bytes | None:
        """The state under a key."""
        state = self.peek(key)
        if state is None:
            self.misses += 1
        else:
            self.hits += 1
        return state

    def peek(self, key: str) -> bytes | None:
        """The state under a key, without counting."""
        state = self._memory.get(key) or self._read(key)
        if state is not None:
            self._remember(key, state)
        return state

    def put(self, key: str, state: bytes) -> None:
        """Keep a state."""
        self._remember(key, state)
        if self._disk is not None:
            try:
                self._disk.set(key, _digest(state) + state)
            except _FAULTS:
                self._disk = None

    def _remember(self, key: str, state: bytes) -> None:
        if len(state) <= self._memory.maxsize:
            self._memory[key] = state

    def _read(self, key: str) -> bytes | None:
        if self._disk is None:
            return None
        try:
            kept = self._disk.get(key)
        except _FAULTS:
            return None
        if not isinstance(kept, bytes) or kept[:_DIGEST] != _digest(kept[_DIGEST:]):
            return None
        return kept[_DIGEST:]


def _digest(state: bytes) -> bytes:
    return hashlib.blake2b(state, digest_size=_DIGEST).digest()
