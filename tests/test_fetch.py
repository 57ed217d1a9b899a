from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenacity import wait_none

from index.errors import ModelError
from rag import fetch as fetching
from rag.fetch import Patience, SourceUnreachable, fetch
from tests.made import QuietHandler, closed_port, serving

CONTENT = bytes(range(256)) * 20_000
"""Five megabytes: several chunks."""
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Files(QuietHandler):
    """Serves one file with ranges; cuts the connection after as many bytes as ``cuts`` says, once for each entry."""

    content = CONTENT
    has_ranges = True
    cuts: list[int]
    asked: list[str | None]

    def do_GET(self) -> None:  # noqa: N802
        wanted = self.headers.get("Range")
        self.asked.append(wanted)
        if self.path != "/model.bin":
            self.send(404, b"not here")
            return
        start = int(re.findall(r"bytes=(\d+)-", wanted)[0]) if wanted and self.has_ranges else 0
        if start >= len(self.content):
            self.send(416, b"")
            return
        body = self.content[start:]
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: self.cuts.pop(0)] if self.cuts else body)


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> type[Files]:
    monkeypatch.setattr(fetching, "wait_exponential", lambda **_: wait_none())
    return type("FreshFiles", (Files,), {"cuts": [], "asked": []})


@pytest.fixture
def url(files: type[Files]) -> Iterator[str]:
    with serving(files) as base:
        yield f"{base}/model.bin"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "models" / "model.bin"


def part_of(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def test_a_file_is_fetched_with_progress_and_appears_only_when_whole(url: str, target: Path) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        assert not target.exists()
        told.append((done, total))

    assert fetch(url, target, SHA256, progress) == target
    assert target.read_bytes() == CONTENT
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-1] == (len(CONTENT), len(CONTENT))
    assert list(target.parent.iterdir()) == [target]


def test_a_file_that_is_here_is_not_fetched_again(url: str, files: type[Files], target: Path) -> None:
    fetch(url, target, SHA256)
    fetch(url, target, SHA256)
    assert len(files.asked) == 1


def test_a_file_of_that_name_with_another_content_is_fetched_anew(url: str, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(b"an old model")
    fetch(url, target, SHA256)
    assert target.read_bytes() == CONTENT


def test_a_cut_connection_is_resumed_where_it_broke(url: str, files: type[Files], target: Path) -> None:
    files.cuts[:] = [3_000_000, 2_000_000]
    told: list[int] = []
    fetch(url, target, SHA256, lambda done, total: told.append(done))
    assert target.read_bytes() == CONTENT
    assert files.asked[0] is None
    assert len(files.asked) == 3
    starts = [int(wanted.removeprefix("bytes=").removesuffix("-")) for wanted in files.asked[1:] if wanted]
    assert 0 < starts[0] <= 3_000_000
    assert starts[0] < starts[1] <= starts[0] + 2_000_000
    assert told == sorted(told), "no byte is counted twice"


def test_what_arrived_in_an_earlier_run_is_not_fetched_again(url: str, files: type[Files], target: Path) -> None:
    target.parent.mkdir()
    part_of(target).write_bytes(CONTENT[:4_000_000])
    fetch(url, target, SHA256)
    assert files.asked == ["bytes=4000000-"]
    assert target.read_bytes() == CONTENT


def test_a_part_that_is_complete_already_becomes_the_file(url: str, target: Path) -> None:
    target.parent.mkdir()
    part_of(target).write_bytes(CONTENT)
    assert fetch(url, target, SHA256).read_bytes() == CONTENT


def test_a_server_without_ranges_is_read_from_the_start(url: str, files: type[Files], target: Path) -> None:
    files.has_ranges = False
    target.parent.mkdir()
    part_of(target).write_bytes(b"x" * 1_000_000)
    assert fetch(url, target, SHA256).read_bytes() == CONTENT


def test_a_source_that_keeps_breaking_off_is_given_up_and_the_part_is_kept(url: str, files: type[Files], target: Path) -> None:
    files.cuts[:] = [0, 2_000_000, *[0] * 10]
    with pytest.raises(SourceUnreachable, match=r"model\.bin could not be fetched from 127\.0\.0\.1"):
        fetch(url, target, SHA256)
    assert not target.exists()
    assert 0 < part_of(target).stat().st_size <= 2_000_000
    assert len(files.asked) == 5


def test_an_impatient_fetch_gives_up_sooner(url: str, files: type[Files], target: Path) -> None:
    files.cuts[:] = [0] * 10
    with pytest.raises(SourceUnreachable):
        fetch(url, target, SHA256, None, Patience(attempts=2))
    assert len(files.asked) == 2


def test_another_file_than_expected_is_refused_and_not_kept(url: str, target: Path) -> None:
    with pytest.raises(SourceUnreachable, match="SHA-256 differs"):
        fetch(url, target, "0" * 64)
    assert list(target.parent.iterdir()) == []


def test_a_part_of_another_file_is_thrown_away_and_the_next_run_succeeds(url: str, target: Path) -> None:
    target.parent.mkdir()
    part_of(target).write_bytes(b"x" * 1_000_000)
    with pytest.raises(ModelError, match="SHA-256 differs"):
        fetch(url, target, SHA256)
    assert not target.exists()
    assert fetch(url, target, SHA256).read_bytes() == CONTENT


def test_a_file_that_the_source_does_not_have_is_told_at_once(url: str, files: type[Files], target: Path) -> None:
    with pytest.raises(SourceUnreachable, match=r"other\.bin could not be fetched"):
        fetch(url.replace("model.bin", "other.bin"), target.with_name("other.bin"), SHA256)
    assert len(files.asked) == 1
    assert list(target.parent.iterdir()) == []


def test_a_refused_connection_is_told_within_seconds(target: Path) -> None:
    start = time.monotonic()
    with pytest.raises(SourceUnreachable, match=r"127\.0\.0\.1 \(ConnectError\); check the network"):
        fetch(f"http://127.0.0.1:{closed_port()}/model.bin", target, SHA256)
    assert time.monotonic() - start < 5
    assert not target.exists()


def test_all_that_arrived_before_a_cut_is_kept(url: str, files: type[Files], target: Path) -> None:
    files.cuts[:] = [900_000]
    fetch(url, target, SHA256)
    assert files.asked[1] is not None


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(url: str, target: Path) -> None:
    target.parent.write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(ModelError):
        fetch(url, target, SHA256)
