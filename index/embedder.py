"""Sentence embeddings behind a small protocol, so that tests can use a fake and users any SentenceTransformer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from index.errors import ModelError
from index.hashing import remembered_sha256, sha256_value
from index.heads import Heads
from index.trained_part import apply_trained_part, trained_part_for

Progress = Callable[[int, int], None]
"""Called with (done, total) while something long is under way."""

Vectors = NDArray[np.float32]
Chances = Mapping[str, Mapping[str, float]]
"""Question -> option -> probability (`index.heads`)."""

DEFAULT_EMBEDDER = "multilingual-e5-small"
"""Folder of the default embedder among the models."""
BATCH = 32
"""Texts embedded at once: large enough to be quick, small enough for a progress bar that moves."""


class Embedder(Protocol):
    """Turns texts into unit vectors. ``hash`` identifies the weights: an index is bound to it.

    ``trained_part`` is the hash of what we trained on top of the base model, ``None`` where it is used as it came.
    """

    name: str
    hash: str
    trained_part: str | None
    dimension: int
    max_tokens: int
    prefixes: dict[str, str]

    def encode(self, texts: Sequence[str], kind: str, progress: Progress | None = None) -> Vectors:
        """Unit vectors of shape ``(len(texts), dimension)``; ``kind`` is ``query`` or ``passage``."""
        ...

    def count_tokens(self, text: str, kind: str) -> int:
        """Tokens the model would read for the text, prefix and special tokens included."""
        ...

    def read(self, text: str) -> tuple[Vectors, Chances | None]:
        """The text's vector as a query, shape ``(1, dimension)``, and what the heads read in it (`index.heads`), in one pass.

        Question -> option -> probability; ``None`` without heads.
        """
        ...


class SentenceTransformerEmbedder:
    """An `Embedder` over a SentenceTransformer folder (or hub name), on the CPU.

    Prefixes come from the model's own prompts (``query`` and ``passage``, or ``document``); a model without prompts gets
    none. Raises `ModelError` when the folder cannot be loaded.
    """

    def __init__(self, source: Path | str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging as transformers_logging
        except ImportError as error:
            raise ModelError(f"Search needs sentence-transformers, which did not import ({error}); run: make setup") from error
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        try:
            self._model = SentenceTransformer(str(source), device="cpu", local_files_only=Path(source).exists())
        except Exception as error:  # the library raises many kinds for a damaged folder
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ModelError(
                f"The embedder in {source} cannot be loaded ({reason}); run: tablelaw models fetch embedder"
            ) from error
        prompts: dict[str, str] = {key: value or "" for key, value in (self._model.prompts or {}).items()}
        passage = prompts.get("passage") or prompts.get("document") or ""
        self.prefixes = {"query": prompts.get("query", ""), "passage": passage}
        self.name = Path(source).name
        base = model_hash(Path(source)) if Path(source).exists() else str(source)
        part = trained_part_for(base)
        self.trained_part: str | None = None
        self._heads: Heads | None = None
        if part:
            self.trained_part, self._heads = apply_trained_part(self._model[0].auto_model, part)
        self.hash = sha256_value([base, self.trained_part]) if part else base
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 512)
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], kind: str, progress: Progress | None = None) -> Vectors:
        """See `Embedder.encode`. Long lists are embedded in batches, longest texts together."""
        prefix = self.prefixes[kind]
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda k: -len(texts[k]))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            with self._lock:
                vectors: Any = self._model.encode(
                    [prefix + texts[k] for k in rows],
                    batch_size=BATCH,
                    normalize_embeddings=True,
                    show_progress_bar=False,
                    prompt="",
                )
            out[rows] = np.asarray(vectors, dtype=np.float32)
            if progress:
                progress(min(start + BATCH, len(order)), len(order))
        return out

    def read(self, text: str) -> tuple[Vectors, Chances | None]:
        """See `Embedder.read`."""
        vector = self.encode([text], "query")
        return vector, self._heads.read(vector)[0] if self._heads else None

    def save(self, folder: Path) -> None:
        """Write the model, the trained part in its weights, as a SentenceTransformer folder for other programs."""
        with self._lock:
            self._model.save(str(folder), create_model_card=False)

    def count_tokens(self, text: str, kind: str) -> int:
        """See `Embedder.count_tokens`."""
        with self._lock:  # the tokenizer's settings are shared with `encode`
            return len(self._model.tokenizer(self.prefixes[kind] + text, truncation=False, verbose=False)["input_ids"])


def model_hash(folder: Path) -> str:
    """SHA-256 over the weights and configuration of a model folder."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in {".safetensors", ".bin", ".json"})
    return sha256_value([[str(p.relative_to(folder)), remembered_sha256(p)] for p in files])
