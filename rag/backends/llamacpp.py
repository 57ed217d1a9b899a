"""A GGUF model in this process through llama-cpp-python. `Llama` is not thread-safe: one generation at a time."""

from __future__ import annotations

import atexit
import codecs
import ctypes
import importlib.util
import os
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from index import paths
from index.errors import BackendError, ModelError
from index.hashing import remembered_sha256, sha256_value
from rag.backends.base import CONTEXT_TOKENS, MAX_LINES, PULSE_SECONDS
from rag.backends.budget import Speed, lines_within
from rag.backends.prefixes import Prefixes
from rag.backends.tokens import break_tokens, control_tokens
from rag.prompt import Prompt

SEQUENCE = 0
"""The sequence of the model's memory that is used."""
STEP_TOKENS = 64
"""Tokens of a prompt computed at a time, about a second's work on 2 cores; between two steps an answer can be stopped."""
WARM_TOKENS = 8
"""Tokens written to measure the speed."""
CLOSE_SECONDS = 10.0
"""How long the end of the program waits for a step that is being computed."""


@dataclass(frozen=True)
class _Tokens:
    """The parts of a prompt: ``system`` and ``law``, which repeat, and the ``rest``; and the ``lines`` that may be written."""

    system: list[int]
    law: list[int]
    rest: list[int]
    lines: list[list[int]]

    @property
    def before(self) -> list[int]:
        """What is kept."""
        return self.system + self.law


def is_installed() -> bool:
    """Whether llama-cpp-python is there (its build may have failed; everything else works without it)."""
    return importlib.util.find_spec("llama_cpp") is not None


class LlamaBackend:
    """One loaded GGUF. Raises `ModelError` when the file cannot be loaded.

    It writes nothing but the prompt's lines: at each step the likeliest token among those with which a line can go on. As soon
    as one line is left, the rest of it is given at once. The state behind system and law is kept (`rag.backends.prefixes`).

    The work is done in steps, each of which ends with a piece, though it be an empty one. Once it has been warmed up, it asks
    no more of itself than it can do within the time limit (`rag.backends.budget`).
    """

    is_bound, at_once = True, 1

    def __init__(self, path: Path, threads: int | None = None, prefixes: Prefixes | None = None) -> None:
        import llama_cpp
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

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
        self._lock, self._step = threading.Lock(), threading.Lock()
        atexit.register(self._close)  # at the very end the library would find its own parts gone
        self._control = control_tokens(self._llama)
        begin, end = map(self._text_of, (self._llama.token_bos(), self._llama.token_eos()))
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            raise ModelError(f"{path} has no chat template; use an instruction-tuned model, or --llm none")
        self._format = Jinja2ChatFormatter(template=template, eos_token=end, bos_token=begin)
        self._key = [remembered_sha256(path), llama_cpp.__version__, CONTEXT_TOKENS]
        self.prefixes = prefixes or Prefixes(paths.cache_dir() / "prefixes")
        self._speed: Speed | None = None

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """See `Backend.stream`. Waits while another answer is being written."""
        yield from self._in_steps(self._written(prompt))

    def warm_up(self, system: str) -> Speed:
        """Compute the state behind a system prompt, keep it, and plan by the speed measured. Raises `BackendError`."""
        for _ in self._in_steps(self._measured(system)):
            pass
        assert self._speed is not None
        return self._speed

    def _in_steps(self, work: Generator[str, None, None]) -> Iterator[str]:
        """The pieces of some work, which has the model for itself until it ends or is closed."""
        while not self._lock.acquire(timeout=PULSE_SECONDS):
            yield ""
        try:
            while (piece := self._next(work)) is not None:
                yield piece
        finally:
            self._lock.release()

    def _next(self, work: Generator[str, None, None]) -> str | None:
        with self._step:
            try:
                return next(work, None)
            except (ValueError, RuntimeError) as error:
                self._llama.reset()
                raise BackendError(f"The language model {self.name} failed ({error}); the law is quoted instead.") from error

    def _close(self) -> None:
        """Free the model. A step that a thread still computes is waited for, and no other begins: it would find it gone."""
        if self._step.acquire(timeout=CLOSE_SECONDS):
            self._llama.close()

    def _written(self, prompt: Prompt) -> Generator[str, None, None]:
        tokens, count = self._planned(prompt)
        yield from self._open(tokens)
        yield from self._compute(tokens.rest)
        yield from self._choose(tokens.lines, count)

    def _measured(self, system: str) -> Generator[str, None, None]:
        tokens = self._tokens_of(Prompt(system, "", "?", (), "")).system
        self._llama.reset()
        self._llama.eval(tokens[:1])  # which reads the weights from the disk
        yield ""
        self._llama.reset()
        start = time.perf_counter()
        yield from self._compute(tokens)
        read = time.perf_counter()
        self._keep(tokens)
        begun = time.perf_counter()
        for _ in range(WARM_TOKENS):
            self._llama.eval(tokens[-1:])
            yield ""
        self._speed = Speed(len(tokens) / (read - start), WARM_TOKENS / (time.perf_counter() - begun))

    def _planned(self, prompt: Prompt) -> tuple[_Tokens, int]:
        """The prompt and how many lines to write: as many as there is time for, and if for none, one without the Law."""
        tokens = self._tokens_of(prompt)
        if self._speed is None:
            return tokens, MAX_LINES
        to_read = len(tokens.rest) + (0 if self._is_kept(tokens.before) else len(tokens.before))
        count = lines_within(self._speed, to_read, tokens.lines)
        if count == 0 and prompt.short:
            return self._tokens_of(prompt.short), 1
        return tokens, max(1, count)

    def _tokens_of(self, prompt: Prompt) -> _Tokens:
        system, law, user = (break_tokens(text, self._control) for text in (prompt.system, prompt.law, prompt.user))
        messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        whole = self._format(messages=messages).prompt
        at = whole.rindex(user)
        lines = [self._tokens(f"{line}\n") for line in prompt.lines]
        tokens = _Tokens(
            system=self._tokens(whole[:at], special=True),
            law=self._tokens(whole[at : at + len(law)], special=True),
            rest=self._tokens(whole[at + len(law) :], special=True),
            lines=lines,
        )
        used = len(tokens.before) + len(tokens.rest)
        room = CONTEXT_TOKENS - sum(sorted(map(len, lines))[-MAX_LINES:])
        if used > room:
            raise ValueError(f"the prompt has {used} tokens, {room} fit")
        return tokens

    def _tokens(self, text: str, special: bool = False) -> list[int]:
        return list(self._llama.tokenize(text.encode("utf-8"), add_bos=False, special=special))

    def _open(self, tokens: _Tokens) -> Generator[str, None, None]:
        """Bring the model to the state behind system and law: kept from before, or computed and then kept.

        The system is computed for itself, so that nothing depends on whether it was kept.
        """
        before = tokens.before
        if self._goes_on_from(before):
            self.prefixes.hits += 1
            return
        if self._put(before, self.prefixes.get(self._key_of(before))):
            return
        system = tokens.system
        if not self._goes_on_from(system) and not self._put(system, self.prefixes.peek(self._key_of(system))):
            self._llama.reset()
            yield from self._compute(system)
        yield from self._compute(tokens.law)
        self._keep(before)

    def _key_of(self, tokens: list[int]) -> str:
        return sha256_value([*self._key, tokens])

    def _is_behind(self, tokens: list[int]) -> bool:
        """Whether the model still holds these tokens from the last question."""
        return self._llama.n_tokens >= len(tokens) and list(self._llama.input_ids[: len(tokens)]) == tokens

    def _goes_on_from(self, tokens: list[int]) -> bool:
        if not self._is_behind(tokens):
            return False
        self._llama.n_tokens = len(tokens)
        return True

    def _is_kept(self, tokens: list[int]) -> bool:
        return self._is_behind(tokens) or self.prefixes.peek(self._key_of(tokens)) is not None

    def _compute(self, tokens: list[int]) -> Generator[str, None, None]:
        for at in range(0, len(tokens), STEP_TOKENS):
            self._llama.eval(tokens[at : at + STEP_TOKENS])
            yield ""

    def _put(self, tokens: list[int], state: bytes | None) -> bool:
        """Give the model a state; whether it took it."""
        import llama_cpp

        if not state:
            return False
        llama = self._llama
        llama.reset()
        llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(llama.ctx), SEQUENCE, -1, -1)
        held = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if llama_cpp.llama_state_seq_set_data(llama.ctx, held, len(state), SEQUENCE) != len(state):
            return False
        llama.input_ids[: len(tokens)] = tokens
        llama.n_tokens = len(tokens)
        return True

    def _keep(self, tokens: list[int]) -> None:
        """Keep the state of the model, which is the one behind these tokens."""
        import llama_cpp

        size = llama_cpp.llama_state_seq_get_size(self._llama.ctx, SEQUENCE)
        room = (ctypes.c_uint8 * size)()
        if llama_cpp.llama_state_seq_get_data(self._llama.ctx, room, size, SEQUENCE) == size:
            self.prefixes.put(self._key_of(tokens), bytes(room))

    def _choose(self, lines: list[list[int]], count: int) -> Generator[str, None, None]:
        """Up to ``count`` of the lines, each once, piece by piece; the model may end after the first."""
        left, end = [list(line) for line in dict.fromkeys(map(tuple, lines))], self._llama.token_eos()
        for number in range(min(count, len(left))):
            text = codecs.getincrementaldecoder("utf-8")("replace")
            begun, going = 0, left
            while len(going) > 1 or not begun:
                allowed = {line[begun] for line in going} | ({end} if number and not begun else set())
                token = self._likeliest(sorted(allowed))
                if token == end:
                    return
                going = [line for line in going if line[begun] == token]
                begun += 1
                if len(going) > 1:
                    yield text.decode(self._bytes([token]))
                    self._llama.eval([token])
            (line,) = going
            yield text.decode(self._bytes(line[begun - 1 :]), final=True)
            left = [other for other in left if other != line]
            if left and number + 1 < count:
                yield from self._compute(line[begun - 1 :])

    def _likeliest(self, tokens: Sequence[int]) -> int:
        import llama_cpp

        logits = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        values = np.ctypeslib.as_array(logits, shape=(self._llama.n_vocab(),))[list(tokens)]
        return tokens[int(values.argmax())]

    def _text_of(self, special: int) -> str:
        """A special token as templates write it; nothing for one that the model does not have."""
        return self._llama.detokenize([special], special=True).decode("utf-8", "replace") if special >= 0 else ""

    def _bytes(self, tokens: Sequence[int]) -> bytes:
        return bytes(self._llama.detokenize(list(tokens)))
