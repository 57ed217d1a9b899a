from __future__ import annotations

import os
from pathlib import Path

import pytest

from index.errors import ContractError
from rag.files import write_file


def test_a_file_is_written_whole_over_the_old_one_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a file.txt"
    for pieces in (["one ", "ход\n"], ["two"]):
        write_file(path, pieces)
        assert path.read_bytes() == "".join(pieces).encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_that_is_full_in_the_middle_leaves_the_old_file_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.json"
    write_file(path, ["before"])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ContractError, match=r"cannot be written \(No space left on device\); name another file\.$"):
        write_file(path, ["after"])
    with pytest.raises(ContractError, match=r"; free some space\.$"):
        write_file(path, ["after"], "free some space")
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [("state.json", "before")]
