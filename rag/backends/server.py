"""Any OpenAI-compatible server (llama-server, vLLM, Ollama) in the place of the local model."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import httpx2
import openai
from openai.types.chat import ChatCompletionChunk

from index.errors import BackendError
from rag.backends.base import MAX_SECONDS, MAX_TOKENS
from rag.backends.pulse import with_pulse
from rag.backends.tokens import COMMON_TOKENS, break_tokens
from rag.prompt import Prompt

TIMEOUT = openai.Timeout(MAX_SECONDS, connect=4.0)
"""Seconds of silence during an answer, and until connected; a connection that is refused fails at once."""
RETRIES = 1
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ServerBackend:
    """A server at ``url`` (``http://127.0.0.1:8080/v1``, or ``...v1#model`` where it serves several).

    The key, where one is needed, is ``$OPENAI_API_KEY``. Proxy settings of the environment do not apply to this machine.
    """

    at_once = 8
    is_bound = False  # a server that knows no grammars may pass over ours in silence

    def __init__(self, url: str) -> None:
        self.name = url
        base, _, model = url.partition("#")
        base = base.rstrip("/")
        base = base if base.endswith("/v1") else base + "/v1"
        key = os.environ.get("OPENAI_API_KEY") or "none"
        local = httpx2.URL(base).host in LOOPBACK
        self._client = openai.OpenAI(
            base_url=base,
            api_key=key,
            timeout=TIMEOUT,
            max_retries=RETRIES,
            http_client=openai.DefaultHttpxClient(trust_env=not local),
        )
        self._model = model
        self._takes_grammars = True

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """See `Backend.stream`.

        The grammar is sent as llama-server reads it; servers without grammars ignore it, or are asked again without it.
        """
        return with_pulse(self._pieces(prompt))

    def _pieces(self, prompt: Prompt) -> Generator[str, None, None]:
        """What is no model server breaks the client in many ways; all of them end in one sentence."""
        try:
            with self._open(prompt) as pieces:
                is_whole = False
                for piece in pieces:
                    for choice in piece.choices[:1]:
                        is_whole = is_whole or choice.finish_reason is not None
                        text = choice.delta.content
                        if isinstance(text, str) and text:  # the client hands on whatever the server put there
                            yield text
        except (openai.OpenAIError, httpx2.HTTPError, ValueError, AttributeError, TypeError, LookupError) as error:
            raise BackendError(
                f"The server {self.name} did not answer ({self._reason(error)}); start it or use --llm none. "
                "The law is quoted instead."
            ) from error
        if not is_whole:
            raise BackendError(f"The server {self.name} broke off in the middle of an answer.")

    def _reason(self, error: Exception) -> str:
        if isinstance(error, openai.NotFoundError):
            return f'HTTP 404: perhaps it has no model "{self._model}"'
        if isinstance(error, openai.APIStatusError):
            return f"HTTP {error.status_code}"
        if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
            return "no answer in time"
        if isinstance(error, openai.APIConnectionError):
            return "no connection"
        return type(error).__name__

    def _open(self, prompt: Prompt) -> openai.Stream[ChatCompletionChunk]:
        if self._takes_grammars:
            try:
                return self._create(prompt, {"grammar": prompt.grammar})
            except (openai.BadRequestError, openai.UnprocessableEntityError):
                self._takes_grammars = False
        return self._create(prompt, {})

    def _create(self, prompt: Prompt, extra: dict[str, str]) -> openai.Stream[ChatCompletionChunk]:
        user = break_tokens(prompt.user, COMMON_TOKENS)
        return self._client.chat.completions.create(
            model=self._model_name(),
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": user}],
            temperature=0.0,
            max_tokens=MAX_TOKENS,
            stream=True,
            extra_body=extra,
        )

    def _model_name(self) -> str:
        if not self._model:
            models = self._client.models.list().data
            self._model = models[0].id if models else "default"
        return self._model
