"""Fakes behind the two model protocols: quick, deterministic, and honest about what they are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from index.bm25 import words
from index.embedder import Chances, Progress, Vectors
from index.errors import BackendError
from rag.prompt import Prompt


class FakeEmbedder:
    """Bags of stemmed words hashed into 256 dimensions: texts that share words are near each other."""

    name = "fake"
    hash = "fake-hash"
    trained_part = None
    dimension = 256

    def __init__(self, max_tokens: int = 512) -> None:
        self.prefixes = {"query": "query: ", "passage": "passage: "}
        self.max_tokens = max_tokens
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], kind: str, progress: Progress | None = None) -> Vectors:
        assert kind in self.prefixes
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            self.encoded.append(text)
            for word in words(text) or ["-"]:
                out[row, int(hashlib.sha256(word.encode()).hexdigest()[:8], 16) % self.dimension] += 1
        if progress:
            progress(len(texts), len(texts))
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def read(self, text: str) -> tuple[Vectors, Chances | None]:
        return self.encode([text], "query"), None

    def count_tokens(self, text: str, kind: str) -> int:
        return len(text.split()) + 2


class FakeBackend:
    """Writes a fixed text piece by piece and remembers the prompts it was sent; ``is_bound`` is what it claims to be."""

    name = "fake-model"

    def __init__(self, text: str, fails: bool = False, is_bound: bool = False, at_once: int = 1) -> None:
        self.text = text
        self.fails = fails
        self.is_bound = is_bound
        self.at_once = at_once
        self.prompts: list[Prompt] = []

    def stream(self, prompt: Prompt) -> Iterator[str]:
        self.prompts.append(prompt)
        if self.fails:
            raise BackendError("The server http://127.0.0.1:1 did not answer (fake); start it or use --llm none.")
        for piece in self.text.split(" "):
            yield piece + " "
