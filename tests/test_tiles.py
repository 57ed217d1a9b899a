from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from index.errors import ContractError
from rag.page import tiles as tiles_module
from rag.page.tiles import find_start, question_of, read_tiles, told
from rag.procedure import find_procedure
from rag.rule import rule
from rag.strings import languages

STARTS = [start.irregularity for tile in read_tiles() for start in tile.starts]


def test_there_are_fifteen_tiles_each_once() -> None:
    assert len(read_tiles()) == 15
    assert len(set(STARTS)) == len(STARTS)


@pytest.mark.parametrize("irregularity", STARTS)
def test_every_start_asks_its_first_question_or_rules_at_once(irregularity: str) -> None:
    outcome = rule(irregularity, {}, None)
    assert outcome.procedure == find_procedure(irregularity)
    assert outcome.ask or outcome.leaf


@pytest.mark.parametrize("lang", languages())
def test_every_label_is_there_in_every_language_and_short(lang: str) -> None:
    for tile in read_tiles():
        labels = [tile.label, *(start.label for start in tile.starts if len(tile.starts) > 1)]
        assert [words for words in labels if not 0 < len(words.get(lang, "")) <= 40] == []
        assert len({told(start.label, lang) for start in tile.starts if start.label}) in {0, len(tile.starts)}


def test_the_question_of_a_case_is_the_tiles_label_and_which_of_its_starts() -> None:
    assert question_of("insufficient-bid", "ru") == "Недостаточное назначение"
    assert question_of("pass-out-of-rotation", "en") == "Call out of rotation: Pass"
    assert question_of("insufficient-bid", "de") == "Insufficient bid"
    assert question_of("spectator", "en") is None
    assert find_start("none") is None


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tiles_module, "PATH", tmp_path / "tiles.yaml")
    read_tiles.cache_clear()
    yield tmp_path / "tiles.yaml"
    read_tiles.cache_clear()


def tile(**changes: Any) -> dict[str, Any]:
    return {"id": "claim", "label": {"en": "Claim"}, "starts": [{"irregularity": "claim"}], **changes}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ("- [", "tiles.yaml is damaged"),
        ([tile(), tile()], "two tiles have the same id"),
        ([tile(label={"ru": "Клейм"})], "every label needs its English words"),
        ([tile(label={"en": "Claim", "xx": "?"})], "known languages only"),
        ([tile(starts=[])], r"tiles.yaml: .*starts"),
        ([tile(starts=[{"irregularity": "no-such"}])], "tile claim: .*no-such"),
        ([tile(starts=[{"irregularity": "claim"}, {"irregularity": "concession"}])], "every label needs its English words"),
        ([tile(colour="red")], r"tiles.yaml: .*colour"),
        ([tile(label={"en": ""})], r"tiles.yaml: .*label"),
    ],
)
def test_a_bad_file_is_told_with_what_is_wrong(file: Path, data: Any, fault: str) -> None:
    file.write_text(data if isinstance(data, str) else yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    with pytest.raises(ContractError, match=fault):
        read_tiles()


def test_a_file_that_is_not_there_is_told(file: Path) -> None:
    with pytest.raises(ContractError, match="restore the file"):
        read_tiles()
