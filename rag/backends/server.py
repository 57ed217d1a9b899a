"""Any OpenAI-compatible server (llama-server, vLLM, Ollama) in the place of the local model."""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx
import openai

from index.errors import BackendError
from rag.backends.base import MAX_TOKENS
from rag.prompt import Prompt

TIMEOUT = 120.0
"""Seconds for one answer; a connection that is refused fails at once."""
RETRIES = 1


class ServerBackend:
    """A server at ``url`` (``http://127.0.0.1:8080/v1``). The key, where one is needed, is ``$OPENAI_API_KEY``."""

    def __init__(self, url: str) -> None:
        self.name = url
        base = url.rstrip("/")
        base = base if base.endswith("/v1") else base + "/v1"
        key = os.environ.get("OPENAI_API_KEY") or "none"
        self._client = openai.OpenAI(base_url=base, api_key=key, timeout=TIMEOUT, max_retries=RETRIES)
        self._model: str | None = None

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """See `Backend.stream`. What is no model server breaks the client in many ways; all of them end in one sentence.

        The grammar is sent as llama-server reads it; servers without grammars ignore it.
        """
        try:
            pieces = self._client.chat.completions.create(
                model=self._model_name(),
                messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
                temperature=0.0,
                max_tokens=MAX_TOKENS,
                stream=True,
                extra_body={"grammar": prompt.grammar},
            )
            for piece in pieces:
                text = piece.choices[0].delta.content if piece.choices else None
                if text:
                    yield text
        except (openai.OpenAIError, httpx.HTTPError, ValueError, AttributeError, TypeError, IndexError) as error:
            reason = type(error).__name__
            raise BackendError(
                f"The server {self.name} did not answer ({reason}); start it or use --llm none. The law is quoted instead."
            ) from error

    def _model_name(self) -> str:
        if self._model is None:
            models = self._client.models.list().data
            self._model = models[0].id if models else "default"
        return self._model
