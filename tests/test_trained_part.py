from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.embedder import SentenceTransformerEmbedder, model_hash
from index.errors import ModelError
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


def with_heads(path: Path, options: dict[str, list[str]]) -> tuple[Any, Any]:
    """A part of one layer and of heads, which are stored with these options; gives the layer and the heads."""
    import torch
    from safetensors.torch import save_file

    from index.heads import Heads

    torch.manual_seed(2017)
    heads = Heads({"spilled": ["yes", "no", ""]}, torch.randn(1, 4), torch.randn(3, 4)).eval()
    tensors = {f"heads.{name}": value.half() for name, value in heads.state_dict().items()}
    tensors |= {"0.A": torch.ones(1, 3).half(), "0.B": torch.ones(2, 1).half()}
    save_file(tensors, path, metadata={"made": '{"scale": 1.0}', "options": json.dumps(options)})
    return torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False)), heads


def test_the_heads_of_a_part_are_given_beside_its_hash_and_are_no_layers(tmp_path: Path) -> None:
    import torch

    path = tmp_path / "part.safetensors"
    layer, heads = with_heads(path, {"spilled": ["yes", "no", ""]})
    before = layer[0].weight.detach().clone()
    sha256, found = apply_trained_part(layer, path)
    assert sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert torch.allclose(layer[0].weight, before + 1.0)
    states, mask = torch.randn(2, 3, 4), torch.ones(2, 3)
    (one, other), expected = found.read(states, mask), heads.read(states, mask)
    assert one["spilled"] == pytest.approx(expected[0]["spilled"], abs=1e-2)
    assert other["spilled"] == pytest.approx(expected[1]["spilled"], abs=1e-2)


@pytest.mark.parametrize("options", [{}, {"spilled": ["yes", ""]}, {"spilled": ["yes", "no", ""], "who": ["north"]}])
def test_heads_that_do_not_fit_their_options_are_damaged(tmp_path: Path, options: dict[str, list[str]]) -> None:
    path = tmp_path / "part.safetensors"
    layer, _ = with_heads(path, options)
    with pytest.raises(ModelError, match=r"damaged .*; restore the file\.$"):
        apply_trained_part(layer, path)


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
