"""The trained part of the embedder: low-rank changes to its linear layers, added to the weights when the model is opened.

LoRA (Hu et al. 2021, https://arxiv.org/abs/2106.09685): a layer's weight ``W`` becomes ``W + scale * B @ A``. It was trained
on one base model (`index.train`) and is used with no other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from index.errors import ModelError
from index.hashing import sha256_file
from index.heads import Heads

FILE = Path(__file__).resolve().parent / "trained" / "e5-small-lora.safetensors"
"""The part that comes with the program."""
HEADS_PREFIX = "heads."
"""Tensors so named are the heads' (`index.heads`), the others the low-rank changes."""


def trained_part_for(base_hash: str, path: Path = FILE) -> Path | None:
    """The trained part, where it is there and was trained on the model of that hash."""
    if not path.exists():
        return None
    return path if read_metadata(path).get("base_sha256") == base_hash else None


def read_metadata(path: Path) -> dict[str, Any]:
    """How the part was made: base model, data, seed, steps. Raises `ModelError` when the file is damaged."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as part:
            metadata = part.metadata() or {}
            return {**json.loads(metadata["made"]), "options": json.loads(metadata.get("options", "{}"))}
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path} is damaged ({error}); restore the file.") from error


def apply_trained_part(transformer: Any, path: Path) -> tuple[str, Heads | None]:
    """Add the changes to the layers of a transformer (a torch module); gives the part's SHA-256 and its heads, if any."""
    import torch
    from safetensors.torch import load_file

    metadata = read_metadata(path)
    tensors = load_file(path)
    of_heads = {key[len(HEADS_PREFIX) :]: value for key, value in tensors.items() if key.startswith(HEADS_PREFIX)}
    layers = {key.rsplit(".", 1)[0] for key in tensors if not key.startswith(HEADS_PREFIX)}
    scale = float(metadata["scale"])
    try:
        heads = None
        if of_heads:
            heads = Heads(metadata["options"], of_heads["weights"].float().numpy(), of_heads["bias"].float().numpy())
        changes = {name: scale * tensors[f"{name}.B"].float() @ tensors[f"{name}.A"].float() for name in sorted(layers)}
    except (KeyError, ValueError) as error:
        raise ModelError(f"{path} is damaged ({error}); restore the file.") from error
    with torch.no_grad():
        for name, change in changes.items():
            transformer.get_submodule(name).weight += change
    return sha256_file(path), heads
