"""The tiles of the empty page: the most frequent rulings, each starting its procedure without typing (``tiles.yaml``)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from index.errors import ContractError, first_fault
from rag.procedure import find_procedure
from rag.strings import FALLBACK, languages

PATH = Path(__file__).resolve().parent / "tiles.yaml"
_CONFIG = ConfigDict(extra="forbid")
_Words = dict[str, Annotated[str, Field(min_length=1, max_length=60)]]


@dataclass(frozen=True, config=_CONFIG)
class Start:
    """One procedure that a tile starts; the label tells it from the tile's others, where there are any."""

    irregularity: str
    label: _Words = Field(default_factory=dict)


@dataclass(frozen=True, config=_CONFIG)
class Tile:
    """One tile; its label is the question of the case that it starts."""

    id: Annotated[str, Field(pattern=r"^[a-z-]+$")]
    label: _Words
    starts: Annotated[tuple[Start, ...], Field(min_length=1)]


@lru_cache(maxsize=1)
def read_tiles() -> tuple[Tile, ...]:
    """The tiles in their order. Raises `ContractError` that names what is wrong in the file."""
    try:
        tiles = _TILES.validate_python(yaml.safe_load(PATH.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise ContractError(f"{PATH.name} is damaged ({error}); restore the file.") from error
    except ValidationError as error:
        raise ContractError(f"{PATH.name}: {first_fault(error)}; mend it or restore the file.") from error
    if len({tile.id for tile in tiles}) < len(tiles):
        raise ContractError(f"{PATH.name}: two tiles have the same id; give each its own.")
    for tile in tiles:
        _check(tile)
    return tiles


def find_start(irregularity: str) -> tuple[Tile, Start] | None:
    """The tile that starts a procedure; ``None``: no tile does."""
    return next(((tile, start) for tile in read_tiles() for start in tile.starts if start.irregularity == irregularity), None)


def told(words: dict[str, str], lang: str) -> str:
    """The words in a language, or in English where they are not translated."""
    return words.get(lang) or words[FALLBACK]


def question_of(irregularity: str, lang: str) -> str | None:
    """The question of a case that is started without typing: the tile's label, and which of its starts it was."""
    found = find_start(irregularity)
    if found is None:
        return None
    tile, start = found
    label = told(tile.label, lang)
    return f"{label}: {told(start.label, lang)}" if start.label else label


def _check(tile: Tile) -> None:
    needs = [tile.label, *(start.label for start in tile.starts if len(tile.starts) > 1 or start.label)]
    if any(FALLBACK not in words or not set(words) <= set(languages()) for words in needs):
        raise ContractError(f"{PATH.name}: tile {tile.id}: every label needs its English words, and known languages only.")
    for start in tile.starts:
        try:
            find_procedure(start.irregularity)
        except ContractError as error:
            raise ContractError(f"{PATH.name}: tile {tile.id}: {error}") from error


_TILES = TypeAdapter(tuple[Tile, ...])
