"""Put together words that were hyphenated at line ends, in any language.

Whether a hyphen belongs to the word ("face-up") is asked of the text itself first, then of the dictionaries of English and
Russian; what neither knows was hyphenated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from index.readers.english import is_word
from index.readers.russian import in_dictionary

SOFT_HYPHEN = "\u00ad"
_HYPHENS = f"-\u2010{SOFT_HYPHEN}"
_LONGEST = 60
"""Letters of the longest word: no line end is searched further back."""
_BROKEN = re.compile(rf"([^\W\d_]+)([{_HYPHENS}])$")
_REST = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)


def join_hyphenated(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of each page with no word split between two of them: its rest moves up to the line where it begins.

    Soft hyphens go. Lines that become empty stay, so that a page keeps its count of lines.
    """
    vocabulary = frozenset(_whole_words(line for page in pages for line in page))
    joined = [[line.rstrip() for line in page] for page in pages]
    places = [(p, k) for p, page in enumerate(joined) for k, line in enumerate(page) if line]
    for (p, k), (next_p, next_k) in pairwise(places):
        line, following = joined[p][k], joined[next_p][next_k]
        broken, rest = _BROKEN.search(line[-_LONGEST:]), _REST.match(following)
        if not broken or not rest or not (rest[0].islower() or (rest[0].isupper() and broken[1].isupper())):
            continue
        keep = broken[2] != SOFT_HYPHEN and keeps_hyphen(broken[1], rest[0], vocabulary)
        head, _, tail = following.partition(" ")
        joined[p][k] = (line if keep else line[:-1]) + head
        joined[next_p][next_k] = tail.lstrip()
    return [[line.replace(SOFT_HYPHEN, "") for line in page] for page in joined]


def keeps_hyphen(left: str, right: str, vocabulary: frozenset[str]) -> bool:
    """Whether ``left-`` at a line end and ``right`` are a word with a hyphen; ``vocabulary``: words of the text, lower case."""
    whole, hyphened = f"{left}{right}".lower(), f"{left}-{right}".lower()
    if (whole in vocabulary) != (hyphened in vocabulary):
        return hyphened in vocabulary
    known = in_dictionary if _CYRILLIC.search(whole) else is_word
    return not known(whole) and (known(hyphened) or (known(left) and known(right)))


def _whole_words(lines: Iterable[str]) -> Iterable[str]:
    is_rest = False
    for line in lines:
        text = line.strip()
        is_broken = text[-1:] in tuple(_HYPHENS)
        words = _WORD.findall(text.replace(SOFT_HYPHEN, ""))
        yield from (word.lower() for word in words[is_rest : len(words) - is_broken])
        is_rest = is_broken if text else is_rest
