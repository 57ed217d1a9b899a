from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from index import books
from index.embedder import Embedder
from index.paths import models_dir
from rag import calibration
from rag.backends.llamacpp import LlamaBackend
from rag.backends.prefixes import Prefixes
from rag.models import LANGUAGE_MODELS
from rag.page import lan
from tests.fakes import FakeEmbedder
from tests.invented import invented_procedures

REAL_MODELS = models_dir()
SHARED = Path(__file__).resolve().parents[2] / "shared"

lan.LOOPBACK_HOSTS = (*lan.LOOPBACK_HOSTS, "testserver")  # as fastapi's test client calls us

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="../shared is not here")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a home of its own: no index, case or book of one test is seen by another."""
    monkeypatch.setenv("TABLELAW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TABLELAW_MODELS", str(REAL_MODELS))
    monkeypatch.delenv("TABLELAW_EMBEDDER", raising=False)
    return tmp_path / "home"


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture
def calibrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> float:
    """A floor of 0.2 for the fake embedder."""
    path = tmp_path / "calibration.yaml"
    path.write_text(yaml.safe_dump({"embedder_sha256": FakeEmbedder.hash, "floor": 0.2}), encoding="utf-8")
    monkeypatch.setattr(calibration, "PATH", path)
    calibration._read.cache_clear()
    yield 0.2
    calibration._read.cache_clear()


BOOK_YAML = """
edition: "2017"
lang: en
kind: law
reader: markdown
title: A small book
licence: CC-BY-4.0
source: restated
in_force: true
note: Invented for tests.
"""

SMALL_BOOK = """---
law: 27
heading: Insufficient bid
---

## 27 Insufficient bid

## 27A When it is accepted

## 27A1

The next player may accept a bid that is too low by calling over it.

```yaml
see: [25A, 27B]
asked:
  en:
    - "someone bid too low and I like it, can I keep it"
    - {q: "one heart over one spade, LHO passed quickly", also: [27B]}
  ru:
    - "заявка ниже, можно принять?"
```

## 27B When it is refused

The offender must replace the low bid. Nobody else may help:

## 27B1

the offender's partner passes until the end, unless the new call is comparable.
"""


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The invented procedures in the place of the bundled ones, for a whole module."""
    with invented_procedures(tmp_path_factory.mktemp("procedures")):
        yield


@pytest.fixture
def small_book(home: Path) -> str:
    """An invented book of five clauses in the user's data folder; gives its id."""
    folder = home / "data" / "books" / "small-2017-en"
    folder.mkdir(parents=True)
    (folder / "book.yaml").write_text(BOOK_YAML, encoding="utf-8")
    (folder / "027.md").write_text(SMALL_BOOK, encoding="utf-8")
    return folder.name


@pytest.fixture(scope="session")
def real_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One home for all tests with real models: its index is built once a run."""
    return tmp_path_factory.mktemp("real-home")


@pytest.fixture(scope="session")
def real_embedder() -> Embedder:
    from rag.models import embedder_folder

    os.environ["TABLELAW_MODELS"] = str(REAL_MODELS)
    from index.embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(embedder_folder())


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> LlamaBackend:
    """The real 0.5B model; what it keeps of prompts is kept for this run only."""
    os.environ["TABLELAW_MODELS"] = str(REAL_MODELS)
    return LlamaBackend(LANGUAGE_MODELS["small"].path, prefixes=Prefixes(tmp_path_factory.mktemp("prefixes")))


@pytest.fixture
def in_real_home(real_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("TABLELAW_HOME", str(real_home))
    yield real_home


@pytest.fixture(autouse=True)
def _fresh_book_list() -> Iterator[None]:
    yield
    books._read.cache_clear()
