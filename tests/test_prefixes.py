from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import diskcache
import pytest

from rag.backends.prefixes import Prefixes

SIZE = 100_000
"""Bytes of a state here: large enough to be a file of its own, as those of models are."""


def state(number: int, size: int = SIZE) -> bytes:
    """Bytes that are not those of another number."""
    return random.Random(number).randbytes(size)


def counts(prefixes: Prefixes) -> tuple[int, int]:
    return prefixes.hits, prefixes.misses


def kept(prefixes: Prefixes, numbers: range) -> list[int]:
    """The numbers of those states that are found, asked for in the order given."""
    return [number for number in numbers if prefixes.get(str(number)) == state(number)]


def files(folder: Path) -> list[Path]:
    """The files of the states on disk."""
    return sorted(folder.rglob("*.val"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "prefixes"


@pytest.mark.parametrize("size", [1, 1000, SIZE])
def test_a_state_is_found_under_its_key_and_no_other(folder: Path, size: int) -> None:
    prefixes = Prefixes(folder)
    assert prefixes.get("1") is None
    prefixes.put("1", state(1, size))
    prefixes.put("2", state(2, size))
    assert [prefixes.get("1"), prefixes.get("2"), prefixes.get("3")] == [state(1, size), state(2, size), None]
    assert counts(prefixes) == (2, 2)


def test_a_state_that_is_put_again_is_replaced(folder: Path) -> None:
    prefixes = Prefixes(folder)
    prefixes.put("1", state(1))
    prefixes.put("1", state(2))
    assert prefixes.get("1") == Prefixes(folder).get("1") == state(2)


def test_what_was_kept_is_there_after_a_restart_and_counts_as_found(folder: Path) -> None:
    Prefixes(folder).put("1", state(1))
    after = Prefixes(folder)
    assert after.get("1") == state(1)
    assert counts(after) == (1, 0)


def test_what_was_read_from_disk_is_then_kept_in_memory(folder: Path) -> None:
    Prefixes(folder).put("1", state(1))
    after = Prefixes(folder)
    after.get("1")
    shutil.rmtree(folder)
    assert after.get("1") == state(1)


def test_what_another_process_keeps_is_found(folder: Path) -> None:
    here = Prefixes(folder)
    assert here.get("1") is None
    code = f"from tests.test_prefixes import *; Prefixes(Path({str(folder)!r})).put('1', state(1))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert here.get("1") == state(1)


# Damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut_behind_the_hash(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-SIZE])


DAMAGES = [cut, flip, lengthen, empty, cut_behind_the_hash, Path.unlink]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_dropped_and_may_be_kept_anew(folder: Path, damage: Callable[[Path], None]) -> None:
    before = Prefixes(folder)
    before.put("1", state(1))
    (path,) = files(folder)
    damage(path)
    before.put("2", state(2))
    after = Prefixes(folder)
    assert after.get("1") is None
    assert counts(after) == (0, 1)
    assert after.get("2") == state(2), "the others stay"
    after.put("1", state(1))
    assert Prefixes(folder).get("1") == state(1)


@pytest.mark.parametrize("value", ["a text", b"", b"short", 5, None])
def test_what_is_no_state_is_dropped(folder: Path, value: object) -> None:
    with diskcache.Cache(str(folder)) as cache:
        cache.set("1", value)
    assert Prefixes(folder).get("1") is None


# Bounds


def test_memory_holds_what_was_used_last_within_its_bound(folder: Path) -> None:
    prefixes = Prefixes(folder, memory_bytes=3 * SIZE)
    for number in range(3):
        prefixes.put(str(number), state(number))
    prefixes.get("0")
    prefixes.put("3", state(3))
    shutil.rmtree(folder)
    assert kept(prefixes, range(4)) == [0, 2, 3]


def test_a_state_that_is_too_large_for_memory_is_kept_on_disk(folder: Path) -> None:
    prefixes = Prefixes(folder, memory_bytes=SIZE - 1)
    prefixes.put("1", state(1))
    assert prefixes.get("1") == state(1)
    shutil.rmtree(folder)
    assert prefixes.get("1") is None


def test_the_disk_holds_what_was_used_last_within_its_bound(folder: Path) -> None:
    bound = 10 * SIZE
    prefixes = Prefixes(folder, memory_bytes=0, disk_bytes=bound)
    for number in range(30):
        prefixes.put(str(number), state(number))
        assert sum(path.stat().st_size for path in files(folder)) <= bound + SIZE
        assert prefixes.get("0") == state(0), "it is always the one used last"
    left = kept(prefixes, range(30))
    assert left == [0, *range(left[1], 30)]
    assert 3 <= len(left) <= 10


# A disk that cannot be used


def file_in_the_way(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("I am a file")


def file_above(folder: Path) -> None:
    folder.parent.write_text("I am a file")


def damaged_database(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "cache.db").write_bytes(b"no database " * 1000)


@pytest.mark.parametrize("hinder", [file_in_the_way, file_above, damaged_database])
def test_a_folder_that_cannot_be_used_costs_only_the_disk_part(folder: Path, hinder: Callable[[Path], None]) -> None:
    hinder(folder)
    prefixes = Prefixes(folder)
    assert prefixes.get("1") is None
    prefixes.put("1", state(1))
    assert prefixes.get("1") == state(1)
    assert Prefixes(folder).get("1") is None


def test_a_folder_that_goes_away_later_costs_only_the_disk_part(folder: Path) -> None:
    prefixes = Prefixes(folder, memory_bytes=2 * SIZE)
    for number in range(2):
        prefixes.put(str(number), state(number))
    shutil.rmtree(folder)
    folder.write_text("I am a file")
    prefixes.put("2", state(2))
    assert kept(prefixes, range(3)) == [1, 2]
    prefixes.put("3", state(3))
    assert kept(prefixes, range(4)) == [2, 3]


def test_a_disk_that_is_full_costs_only_the_disk_part(folder: Path) -> None:
    """In the place of a full disk: in another process, whose files may not grow beyond half a state."""
    code = f"""
import resource, signal
from tests.test_prefixes import *
prefixes = Prefixes(Path({str(folder)!r}))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (SIZE // 2, SIZE // 2))
prefixes.put('1', state(1))
assert prefixes.get('1') == state(1)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    assert Prefixes(folder).get("1") is None
