"""A GGUF model in this process through llama-cpp-python. `Llama` is not thread-safe: one generation at a time."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from index.errors import BackendError, ModelError
from rag.backends.base import CONTEXT_TOKENS, MAX_TOKENS
from rag.backends.tokens import break_tokens, control_tokens
from rag.prompt import Prompt


def is_installed() -> bool:
    """Whether llama-cpp-python is there (its build may have failed; everything else works without it)."""
    return importlib.util.find_spec("llama_cpp") is not None


class LlamaBackend:
    """One loaded GGUF. Raises `ModelError` when the file cannot be loaded."""

    def __init__(self, path: Path, threads: int | None = None) -> None:
        import llama_cpp

        self.name = path.name
        self.path = path
        try:
            self._llama = llama_cpp.Llama(
                str(path), n_ctx=CONTEXT_TOKENS, n_threads=threads or os.cpu_count() or 1, seed=0, verbose=False
            )
        except (ValueError, AssertionError, RuntimeError, OSError) as error:
            raise ModelError(
                f"{path} cannot be loaded: it is damaged or cut short; fetch it again, or use --llm none"
            ) from error
        self._control = control_tokens(self._llama)
        self._grammar = llama_cpp.LlamaGrammar.from_string
        self._lock = threading.Lock()

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """See `Backend.stream`. Waits while another answer is being written."""
        user = break_tokens(prompt.user, self._control)
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]
        with self._lock:
            try:
                pieces = self._llama.create_chat_completion(
                    messages,
                    stream=True,
                    temperature=0.0,
                    max_tokens=MAX_TOKENS,
                    grammar=self._grammar(prompt.grammar, verbose=False),
                )
                for piece in pieces:
                    text = piece["choices"][0]["delta"].get("content")
                    if text:
                        yield text
            except (ValueError, RuntimeError) as error:
                raise BackendError(f"The language model {self.name} failed ({error}); the law is quoted instead.") from error
