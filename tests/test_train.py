from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from index.heads import Heads
from index.lessons import Lessons, Taught
from index.stories import is_held_out
from index.train import Order, _fitted_heads, _write
from index.trained_part import apply_trained_part, read_metadata

pytestmark = pytest.mark.models

HELD = next(text for k in range(1000) if is_held_out(text := f"{k} " + "the smoke was everywhere " * 6))
LESSONS = Lessons(
    {"tea": Taught("Was there tea?", {"yes": [], "no": [], "": []})},
    {"чай на столе": {"tea": "yes"}, HELD: {"tea": ""}},
    [(["a fire", "smoke"], {"tea": "no"})],
)


class _Reader:
    """Stands for the trained model: the texts that it was given, and a vector for "tea" and one for all else."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], **_: Any) -> NDArray[np.float32]:
        self.texts += texts
        return np.array([[1, 0] if "tea" in text else [0, 1] for text in texts], dtype=np.float32)


def test_the_heads_are_fitted_on_the_lines_as_they_are_searched_and_on_none_held_out() -> None:
    reader = _Reader()
    order = Order(Path(), LESSONS, {"чай на столе": "чай на столе tea"}, Path(), Path())
    heads = _fitted_heads(reader, order, "query: ")
    assert sorted(reader.texts) == ["query: a fire", "query: smoke", "query: чай на столе tea"]
    assert set(heads.options["tea"]) == {"yes", "no"}, "what only a line held out states is not learned"
    tea, other = heads.read(np.eye(2, dtype=np.float32))
    assert tea["tea"]["yes"] > 0.9 > 0.1 > other["tea"]["yes"]


def test_a_part_is_read_back_as_training_wrote_it(tmp_path: Path) -> None:
    import torch

    trained = torch.nn.ModuleDict({"0": torch.nn.Linear(3, 2, bias=False), "scores": torch.nn.Linear(2, 5)})
    changes = {
        "0.lora_A.default.weight": torch.tensor([[1.0, 0.0, 2.0]]),
        "0.lora_B.default.weight": torch.tensor([[3.0], [0.5]]),
    }
    weights = {**trained.state_dict(), **changes}
    model = [SimpleNamespace(auto_model=SimpleNamespace(state_dict=lambda: weights))]
    heads = Heads({"who": ("north", "")}, np.array([[1, 0], [0, 0.5]], dtype=np.float32), np.array([0.25, 0], dtype=np.float32))
    path = tmp_path / "trained" / "part.safetensors"
    _write(model, heads, path, {"scale": 2.0, "steps": 7})

    layer = torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False))
    before = layer[0].weight.detach().clone()
    _, found = apply_trained_part(layer, path)
    expected = before + 2.0 * torch.tensor([[3.0, 0.0, 6.0], [0.5, 0.0, 1.0]])
    assert torch.allclose(layer[0].weight, expected)
    assert found is not None
    assert found.options == heads.options
    assert found.read(np.eye(2, dtype=np.float32)) == heads.read(np.eye(2, dtype=np.float32)), "half precision holds these"
    assert read_metadata(path) == {"scale": 2.0, "steps": 7, "options": {"who": ["north", ""]}}
