"""The protocol of a language model, and the choice of one by ``--llm``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from index.errors import ModelError
from rag.models import LANGUAGE_MODELS, find_gguf
from rag.prompt import Prompt

MAX_TOKENS = 400
"""Longest answer a server's model may write, in tokens."""
MAX_LINES = 3
"""Lines that an answer has at most."""
CONTEXT_TOKENS = 4096
"""Context window opened for a local model, in tokens."""
MAX_SECONDS = 60.0
"""A model that has been at work on an answer for so long is stopped, within a line too."""
PULSE_SECONDS = 1.0
"""A backend that waits (for a server, for its lock) says about this often that it still does, so that it can be stopped."""


class Backend(Protocol):
    """A language model that writes the answer to a prompt, piece by piece.

    ``is_bound``: it is sure to write nothing but the prompt's lines. ``at_once``: answers that it can write at the same time.
    """

    name: str
    is_bound: bool
    at_once: int

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """The answer in pieces as they come. Raises `BackendError` when the model fails or cannot be reached.

        An empty piece says only that the model is at work; whoever closes the stream at any piece stops it there.
        """
        ...


def open_backend(llm: str | None) -> Backend | None:
    """The backend that ``--llm`` names: a URL, a GGUF path, a role of the catalogue, or ``none``.

    Without a choice (``None``) the default model is used where it is present and llama-cpp-python is installed, else
    none: then answers quote the law. Raises `ModelError` when an explicit choice cannot be opened.
    """
    if llm == "none":
        return None
    if llm and llm.startswith(("http://", "https://")):
        from rag.backends.server import ServerBackend

        return ServerBackend(llm)
    from rag.backends.llamacpp import LlamaBackend, is_installed

    if llm is None and not (is_installed() and LANGUAGE_MODELS["llm"].path.exists()):
        return None
    path = find_gguf(llm or "llm")
    if not is_installed():
        raise ModelError("llama-cpp-python is not installed; run: make llm, or use --llm none or --llm URL")
    return LlamaBackend(path)
