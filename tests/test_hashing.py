from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from index import hashing
from index.hashing import remembered_sha256, sha256_file, sha256_folder, sha256_value

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""SHA-256 of the bytes ``abc`` (FIPS 180-2, example B.1)."""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.bin"
    path.write_bytes(b"abc")
    return path


def test_the_hash_of_a_file_is_that_of_the_standard(model: Path) -> None:
    assert sha256_file(model) == ABC


def test_a_file_longer_than_one_piece_is_hashed_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_CHUNK", 4)
    (tmp_path / "long").write_bytes(b"0123456789")
    assert sha256_file(tmp_path / "long") == hashlib.sha256(b"0123456789").hexdigest()


def test_a_value_has_the_same_hash_in_any_order_of_its_keys() -> None:
    assert sha256_value({"a": 1, "b": {"c": 2, "d": 3}}) == sha256_value({"b": {"d": 3, "c": 2}, "a": 1})


@pytest.mark.parametrize("other", [{"a": 2}, {"b": 1}, {"a": "1"}, {"a": [1]}, {"a": None}, [["a", 1]], {"а": 1}])
def test_another_value_has_another_hash(other: object) -> None:
    assert sha256_value(other) != sha256_value({"a": 1})


def test_the_order_of_a_list_counts() -> None:
    assert sha256_value([1, 2]) != sha256_value([2, 1])


def fill(folder: Path, **files: str) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def test_folders_with_the_same_files_have_the_same_hash_whatever_they_are_called(tmp_path: Path) -> None:
    assert sha256_folder(fill(tmp_path / "one", a="1", b="2")) == sha256_folder(fill(tmp_path / "two", b="2", a="1"))


@pytest.mark.parametrize(
    "files", [{"a": "1"}, {"a": "1", "b": "3"}, {"a": "1", "c": "2"}, {"a": "2", "b": "1"}, {"a": "12", "b": ""}]
)
def test_a_folder_with_other_files_has_another_hash(tmp_path: Path, files: dict[str, str]) -> None:
    assert sha256_folder(fill(tmp_path / "one", a="1", b="2")) != sha256_folder(fill(tmp_path / "two", **files))


def test_the_hash_of_a_folder_covers_the_folders_below(tmp_path: Path) -> None:
    folder = fill(tmp_path / "one", a="1")
    before = sha256_folder(folder)
    fill(folder / "below", b="2")
    assert sha256_folder(folder) != before


def test_a_remembered_hash_is_not_computed_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remembered_sha256(model) == ABC
    monkeypatch.setattr(hashing, "sha256_file", lambda path: pytest.fail(f"{path} was read again"))
    assert remembered_sha256(model) == ABC


@pytest.mark.parametrize(("content", "later"), [(b"abcd", 0), (b"xyz", 1_000_000_000)])
def test_a_file_of_another_size_or_time_is_hashed_anew(model: Path, content: bytes, later: int) -> None:
    remembered_sha256(model)
    time = model.stat().st_mtime_ns + later
    model.write_bytes(content)
    os.utime(model, ns=(time, time))
    assert remembered_sha256(model) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("stamp", [b"", b"damaged", b"\xff\xfe", ABC.encode(), b"0" * 64 + b" 3 1"])
def test_a_damaged_memory_is_not_believed(model: Path, stamp: bytes) -> None:
    model.with_name("model.bin.sha256").write_bytes(stamp)
    assert remembered_sha256(model) == ABC


def test_a_memory_that_cannot_be_kept_stops_nothing(model: Path) -> None:
    model.with_name("model.bin.sha256").mkdir()
    assert remembered_sha256(model) == ABC
