from __future__ import annotations

from pathlib import Path

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
    assert len(apply_trained_part(layer, path)) == 64
    expected = before.numpy() + 2.0 * np.array([[3.0, 0.0, 6.0], [0.5, 0.0, 1.0]])
    assert np.allclose(layer[0].weight.detach().numpy(), expected)


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
