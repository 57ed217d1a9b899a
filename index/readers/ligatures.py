"""Puts back the ligatures (ff, fi, fl, ffi, ffl) that an extraction from PDF has lost: ``o ender``, ``sta and``, ``insucient``.

A lost ligature leaves a blank or nothing. Whether a piece of text is a broken word is judged by a dictionary: by how much more
common the mended reading is than the one that stands there. Text that has its ligatures is left as it is: only a ligature
that the document as a whole has lost is put back, and a document that shows no broken words is not touched.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from index.readers.english import LONGEST, UNKNOWN, british, commonness, english_words, is_word

SURE = 3.0
"""A reading a thousand times as common as what stands there proves that a ligature is lost here."""

LIKELY = 1.5
"""Where the document is known to have lost this ligature, thirty times is enough."""

LOST_SHARE = 0.05
"""A ligature counts as lost when at least this many proofs stand against each one that is still there."""

COMMON = -6.8
"""A short word mended with nothing standing in the ligature's place must itself be no rarer than this (250 in 1.6 billion)."""

LONG = 7
"""A broken word of so many letters is hardly another word by chance, and may be a rare one."""

VERY_COMMON = -4.5
"""A word mended from a single letter must be one of the few hundred commonest: ``o`` for *off*."""

PROVING = 4
"""A shorter word than this, mended alone, may be a name or a term: it proves nothing about the document."""

_WORD = re.compile(r"[A-Za-z]+")
_LIGATURE = re.compile("ffi|ffl|ff|fi|fl")
_A_BEFORE_VOWEL = re.compile(r"a [aeio]", re.IGNORECASE)
_ENDING = re.compile(r"[^\W\d_]['’]")
_BLANK_BEFORE_STOP = re.compile(r" (?:[.,;:!?)\]]|['’]s\b)")
_KIN = frozenset(("ff", "ffi", "ffl"))  # what a font of the old kind has not: it loses all three or none
_BESIDE_LETTER = frozenset(' \n\f\t(["“-')


@dataclass(frozen=True)
class _Whole:
    """A word of the dictionary, with the ligature that is taken out of it and its place."""

    word: str
    ligature: str
    place: int


@dataclass(frozen=True)
class _Mend:
    """A stretch of the text, what it should read, and how much more common that is than what stands there."""

    start: int
    end: int
    text: str
    ligature: str
    gain: float


def restore_ligatures(text: str) -> str:
    """The text with its lost ligatures; the number of lines stays the same."""
    mends = tuple(_mends(text))
    proofs = Counter(mend.ligature for mend in mends if mend.gain >= SURE)
    present = Counter(match[0] for match in _LIGATURE.finditer(text)) if proofs else Counter[str]()
    lost = {name for name, n in proofs.items() if n >= LOST_SHARE * present[name]}
    lost |= {name for name in _KIN if not present[name] and lost & _KIN}
    pieces, done = [], 0
    for mend in mends:
        if mend.ligature in lost:
            pieces += [text[done : mend.start], mend.text]
            done = mend.end
    return "".join(pieces) + text[done:]


def _mends(text: str) -> Iterator[_Mend]:
    words = list(_WORD.finditer(text))
    k = 0
    while k < len(words):
        mend = _mend_at(text, words, k) if _breakable(text, words[k]) else None
        if mend and mend.gain >= LIKELY:
            yield mend
            k += sum(word.start() < mend.end for word in words[k : k + 2])
        else:
            k += 1


def _breakable(text: str, word: re.Match[str]) -> bool:
    """Ligatures are of small letters: capitals have lost none, nor has what follows an apostrophe (``I've``).

    A letter alone is part of a word only if blanks stand around it.
    """
    if len(word[0]) > 1:
        return word[0][1:].islower() and not _ENDING.match(text, max(0, word.start() - 2), word.start())
    return text[word.start() - 1 : word.start()] in _BESIDE_LETTER | {""} and text[word.end() : word.end() + 1] == " "


def _mend_at(text: str, words: Sequence[re.Match[str]], k: int) -> _Mend | None:
    word, after = words[k], words[k + 1] if k + 1 < len(words) else None
    found = [_alone(text, word)]
    if after and text[word.end() : after.start()] == " " and after[0].islower():
        found += [_joined(word, after)]
    return max(filter(None, found), key=lambda mend: mend.gain, default=None)


def _joined(left: re.Match[str], right: re.Match[str]) -> _Mend | None:
    """Two pieces that are one word with a ligature between them, the blank standing in its place.

    A hyphen at a line's end may be lost with it: *nono ending* for *non-offending* (*nonoffending* here).
    """
    both = left[0] + right[0]
    if len(both) > LONGEST:
        return None
    hyphens = [0] if is_word(left[0]) else [0, *range(3, len(left[0]))]
    wholes = [
        (whole.place + k, whole.ligature, commonness(whole.word) - (1 if k else 0))
        for k in hyphens
        if not k or is_word(both[:k])
        for whole in _broken().get(both[k:].lower(), ())
        if whole.place + k == len(left[0])
    ]
    if not wholes:
        return None
    place, ligature, score = max(wholes, key=lambda whole: whole[2])
    stands = commonness(left[0]) + commonness(right[0])
    if _A_BEFORE_VOWEL.fullmatch(f"{left[0]} {right[0][0]}"):
        stands += UNKNOWN / 2  # "a" before a vowel is no English: "a air"
    whole = both[:place] + ligature + both[place:]
    gain = score - stands
    # Two words made of two pieces prove nothing: chance finds them in names and in foreign words.
    return _Mend(left.start(), right.end(), whole, ligature, gain if is_word(whole) else min(gain, SURE - 0.1))


def _alone(text: str, word: re.Match[str]) -> _Mend | None:
    """A word that has lost a ligature with nothing in its place: at its end, or anywhere if it is no word as it stands."""
    stands, end = word[0], len(word[0])
    least = VERY_COMMON if end == 1 else COMMON if end < LONG else UNKNOWN
    wholes = [
        whole
        for whole in _broken().get(stands.lower(), ())
        if (whole.place == end or (end > 1 and not is_word(stands))) and commonness(whole.word) >= least
    ]
    if not wholes:
        return None
    best = max(wholes, key=lambda whole: commonness(whole.word))
    gain = commonness(best.word) - commonness(stands)
    whole = stands[: best.place] + best.ligature + stands[best.place :]
    behind = word.end() + bool(best.place == end and _BLANK_BEFORE_STOP.match(text, word.end()))
    return _Mend(word.start(), behind, whole, best.ligature, gain if end >= PROVING else min(gain, SURE - 0.1))


@lru_cache(maxsize=1)
def _broken() -> Mapping[str, Sequence[_Whole]]:
    """What each word with a ligature looks like without it -> the words that it may be."""
    table: dict[str, list[_Whole]] = defaultdict(list)
    for american in english_words():
        for word in (american, *british(american)) if _LIGATURE.search(american) else ():
            for match in _LIGATURE.finditer(word):
                table[word[: match.start()] + word[match.end() :]].append(_Whole(word, match[0], match.start()))
    return table
