"""The same question told otherwise: seats turned, typing mistakes, Russian in Latin letters. The laws must stay the same."""

from __future__ import annotations

import random
import re

import cyrtranslit

from index.noise import with_typos

SEATS_EN = ("North", "East", "South", "West")
SEATS_RU = ("Север", "Восток", "Юг", "Запад")
HEAVY = 0.5
"""Share of mistyped longer words in a question with heavy typing mistakes."""
_CASES_RU = {
    "Север": ("Север", "Севера", "Северу", "Севером", "Севере"),
    "Восток": ("Восток", "Востока", "Востоку", "Востоком", "Востоке"),
    "Юг": ("Юг", "Юга", "Югу", "Югом", "Юге"),
    "Запад": ("Запад", "Запада", "Западу", "Западом", "Западе"),
}


def turned(text: str) -> str:
    """Every seat moved one place: North becomes East, and so on; single letters where they stand alone (``N``, ``E``)."""
    moves = {seat: SEATS_EN[(k + 1) % 4] for k, seat in enumerate(SEATS_EN)}
    moves |= {seat.upper(): moves[seat].upper() for seat in SEATS_EN} | {seat.lower(): moves[seat].lower() for seat in SEATS_EN}
    moves |= {seat[0]: moves[seat][0] for seat in SEATS_EN}
    for k, seat in enumerate(SEATS_RU):
        for form, moved in zip(_CASES_RU[seat], _CASES_RU[SEATS_RU[(k + 1) % 4]], strict=True):
            moves |= {form: moved, form.lower(): moved.lower(), form.upper(): moved.upper()}
    pairs = {"NS": "EW", "EW": "SN", "N/S": "E/W", "E/W": "S/N", "N-S": "E-W", "E-W": "S-N"}
    forms = sorted({**moves, **pairs}, key=len, reverse=True)
    seats = re.compile(rf"(?<![\w♠♥♦♣])(?:{'|'.join(map(re.escape, forms))})(?!\w|\.\w)")
    return seats.sub(lambda found: {**moves, **pairs}[found[0]], text)


def mistyped(text: str) -> str:
    """With heavy typing mistakes, the same ones each time."""
    return with_typos(text, random.Random(text), HEAVY)  # noqa: S311 - not for secrets


def in_latin(text: str) -> str:
    """Russian as typed on a Latin keyboard."""
    return str(cyrtranslit.to_latin(text, "ru")).replace("'", "")
