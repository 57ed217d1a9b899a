"""How often the PIN may be guessed: a few times at once, then after waits that grow; in memory, for one start of the server."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import TTLCache

FORGET_SECONDS = 3600
"""Wrong guesses are forgotten when none has come for so long."""
_ADDRESSES = 4096


@dataclass(frozen=True)
class Limit:
    """Wrong guesses that are ``free``; each one more doubles the wait, from ``first`` to ``longest`` seconds."""

    free: int
    first: float
    longest: float

    def wait(self, wrong: int) -> float:
        """Seconds to wait after so many wrong guesses."""
        over = wrong - self.free
        return min(self.longest, self.first * 2 ** min(over, 30)) if over >= 0 else 0.0


EACH = Limit(free=3, first=5, longest=300)
"""For one address in the network."""
ALL = Limit(free=30, first=1, longest=60)
"""For all addresses together: whoever takes many of them still needs years for a million PINs."""


@dataclass(frozen=True)
class _Row:
    wrong: int = 0
    until: float = 0.0


class Guesses:
    """Counts wrong guesses. A right one makes its own address forgotten, not those of others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._each: TTLCache[str, _Row] = TTLCache(_ADDRESSES, FORGET_SECONDS, clock)
        self._all: TTLCache[str, _Row] = TTLCache(1, FORGET_SECONDS, clock)

    def wait(self, address: str) -> int:
        """Whole seconds until that address may guess (again); 0 when it may now."""
        until = max(self._each.get(address, _Row()).until, self._all.get("", _Row()).until)
        return max(0, math.ceil(until - self._clock()))

    def wrong(self, address: str) -> None:
        """Count a wrong guess."""
        for rows, key, limit in ((self._each, address, EACH), (self._all, "", ALL)):
            wrong = rows.get(key, _Row()).wrong + 1
            rows[key] = _Row(wrong, self._clock() + limit.wait(wrong))

    def right(self, address: str) -> None:
        """Forget the wrong guesses of an address."""
        self._each.pop(address, None)
