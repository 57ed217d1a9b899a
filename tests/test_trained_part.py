from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from index.embedder import SentenceTransformerEmbedder, model_hash
from index.errors import ModelError
from index.heads import Heads
from index.trained_part import FILE, apply_trained_part, read_metadata, trained_part_for
from rag.models import embedder_folder
from tests.conftest import REAL_MODELS

pytestmark = pytest.mark.models


@pytest.fixture(autouse=True)
def real_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLELAW_MODELS", str(REAL_MODELS))


def test_the_part_was_trained_on_the_default_embedder_and_is_small() -> None:
    base = model_hash(embedder_folder())
    assert read_metadata(FILE)["base_sha256"] == base
    assert trained_part_for(base) == FILE
    assert trained_part_for("another model") is None
    assert FILE.stat().st_size < 30_000_000


def test_a_change_is_added_to_the_weight(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    layer = torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False))
    before = layer[0].weight.detach().clone()
    path = tmp_path / "part.safetensors"
    a, b = torch.tensor([[1.0, 0.0, 2.0]]), torch.tensor([[3.0], [0.5]])
    save_file({"0.A": a.half(), "0.B": b.half()}, path, metadata={"made": '{"scale": 2.0}'})
    sha256, heads = apply_trained_part(layer, path)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert heads is None, "there are none in it"
    expected = before.numpy() + 2.0 * np.array([[3.0, 0.0, 6.0], [0.5, 0.0, 1.0]])
    assert np.allclose(layer[0].weight.detach().numpy(), expected)


OPTIONS = {"spilled": ["yes", "no", ""], "who": ["north", ""]}
WEIGHTS = np.array([[1, 0], [0, 1], [-1, -1], [0.5, 0], [0, 0.5]], dtype=np.float16)
BIAS = np.array([0, 0.5, 0, 0, 0.25], dtype=np.float16)


def with_heads(path: Path, options: dict[str, list[str]], **stored: NDArray[np.float16]) -> Any:
    """A part of one layer and of heads, which are ``stored`` with these options; gives a layer that it fits."""
    import torch
    from safetensors.numpy import save_file

    tensors = {f"heads.{name}": value for name, value in stored.items()}
    tensors |= {"0.A": np.ones((1, 3), dtype=np.float16), "0.B": np.ones((2, 1), dtype=np.float16)}
    save_file(tensors, path, metadata={"made": '{"scale": 1.0}', "options": json.dumps(options)})
    return torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False))


def test_the_heads_of_a_part_are_given_beside_its_hash_and_are_no_layers(tmp_path: Path) -> None:
    import torch

    path = tmp_path / "part.safetensors"
    layer = with_heads(path, OPTIONS, weights=WEIGHTS, bias=BIAS)
    before = layer[0].weight.detach().clone()
    sha256, found = apply_trained_part(layer, path)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert torch.allclose(layer[0].weight, before + 1.0)
    assert found is not None
    vectors = np.array([[0.6, 0.8], [1, 0]], dtype=np.float32)
    assert found.read(vectors) == Heads(OPTIONS, WEIGHTS.astype(np.float32), BIAS.astype(np.float32)).read(vectors)


@pytest.mark.parametrize(
    ("options", "stored"),
    [
        ({}, {"weights": WEIGHTS, "bias": BIAS}),
        ({"spilled": ["yes", "no", ""]}, {"weights": WEIGHTS, "bias": BIAS}),
        ({**OPTIONS, "cloth": ["yes", ""]}, {"weights": WEIGHTS, "bias": BIAS}),
        (OPTIONS, {"weights": WEIGHTS[:4], "bias": BIAS}),
        (OPTIONS, {"weights": WEIGHTS, "bias": BIAS[:4]}),
        (OPTIONS, {"weights": WEIGHTS}),
        (OPTIONS, {"bias": BIAS}),
        (OPTIONS, {"anchors": WEIGHTS, "bias": BIAS}),  # as heads were stored before they were regressions
    ],
)
def test_heads_that_do_not_fit_their_options_are_damaged(
    tmp_path: Path, options: dict[str, list[str]], stored: dict[str, NDArray[np.float16]]
) -> None:
    path = tmp_path / "part.safetensors"
    layer = with_heads(path, options, **stored)
    with pytest.raises(ModelError, match=r"part\.safetensors is damaged .*; restore the file\.$"):
        apply_trained_part(layer, path)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.99])
def test_a_truncated_part_is_told_in_a_sentence(tmp_path: Path, share: float) -> None:
    path = tmp_path / "part.safetensors"
    with_heads(path, OPTIONS, weights=WEIGHTS, bias=BIAS)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ModelError, match=r"part\.safetensors is damaged .*; restore the file\.$"):
        trained_part_for("a model", path)


@pytest.mark.parametrize("metadata", [None, {"options": "{}"}, {"made": "{"}, {"made": "{}", "options": "nonsense"}])
def test_a_part_that_does_not_say_how_it_was_made_is_damaged(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    from safetensors.numpy import save_file

    path = tmp_path / "part.safetensors"
    save_file({"0.A": np.ones((1, 3), dtype=np.float16)}, path, metadata=metadata)
    with pytest.raises(ModelError, match=r"part\.safetensors is damaged .*; restore the file\.$"):
        read_metadata(path)


def test_a_damaged_part_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "part.safetensors"
    path.write_bytes(b"nonsense")
    with pytest.raises(ModelError, match=r"damaged .*; restore the file"):
        read_metadata(path)


def test_the_embedder_uses_the_part_and_its_hash_says_so() -> None:
    embedder = SentenceTransformerEmbedder(embedder_folder())
    assert embedder.trained_part is not None
    assert embedder.hash != model_hash(embedder_folder())
    lines = ["RHO bid 1H over my 1S", "слева от меня назначили 1 черву на 1 пику", "what time does the club open"]
    near, also, far = embedder.encode(lines, "query")
    assert near @ also > near @ far
