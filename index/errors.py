"""The family of errors that people see: each message says what is wrong, where, and what to do next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the command line starts without it
    from pydantic import ValidationError

# Quoted from what was typed, they would steer the terminal, or could not be written at all.
_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class TablelawError(Exception):
    """Base of all errors whose message is one sentence meant for the person at the keyboard.

    The message stays one line of plain text, whatever a library's own error or a quoted value brings into it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(_NO_TEXT.sub("?", " ".join(message.split())))


class BadQuestion(TablelawError):
    """The question cannot be used: empty, too long, or not text.

    ``key`` and ``values`` name the sentence in the string files, for a page in another language.
    """

    def __init__(self, message: str, key: str, values: dict[str, str]) -> None:
        super().__init__(message)
        self.key = key
        self.values = values


class BookError(TablelawError):
    """A law book is missing, unknown, or has a fault in one of its files."""


class UnknownClause(TablelawError):
    """A clause id that cannot be read or that the book does not have."""


class IndexFault(TablelawError):
    """An index cannot be built or opened."""


class ModelError(TablelawError):
    """A model is missing, damaged, or cannot be loaded or fetched."""


class BackendError(TablelawError):
    """A language model that was loaded or reached does not answer as it should."""


class ServerError(TablelawError):
    """The page cannot be served."""


class ContractError(TablelawError):
    """An option, fact, state file or batch line that does not have the promised form."""


def first_fault(error: ValidationError) -> str:
    """The first thing that is wrong in what was validated, as ``place: what``."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
