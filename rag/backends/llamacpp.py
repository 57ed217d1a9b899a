"""A GGUF model in this process through llama-cpp-python. `Llama` is not thread-safe: one generation at a time."""

from __future__ import annotations

import atexit
import codecs
import ctypes
import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from index import paths
from index.errors import BackendError, ModelError
from index.hashing import remembered_sha256, sha256_value
from rag.backends.base import CONTEXT_TOKENS, MAX_LINES
from rag.backends.prefixes import Prefixes
from rag.backends.tokens import break_tokens, control_tokens
from rag.prompt import Prompt

SEQUENCE = 0
"""The sequence of the model's memory that is used."""


def is_installed() -> bool:
    """Whether llama-cpp-python is there (its build may have failed; everything else works without it)."""
    return importlib.util.find_spec("llama_cpp") is not None


class LlamaBackend:
    """One loaded GGUF. Raises `ModelError` when the file cannot be loaded.

    It writes nothing but the prompt's lines: at each step the likeliest token among those with which a line can go on. As soon
    as one line is left, the rest of it is given at once. The state behind system and law is kept (`rag.backends.prefixes`).
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
        atexit.register(self._llama.close)  # at the very end the library would find its own parts gone
        self._control = control_tokens(self._llama)
        begin, end = map(self._text_of, (self._llama.token_bos(), self._llama.token_eos()))
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            raise ModelError(f"{path} has no chat template; use an instruction-tuned model, or --llm none")
        self._format = Jinja2ChatFormatter(template=template, eos_token=end, bos_token=begin)
        self._key = [remembered_sha256(path), llama_cpp.__version__, CONTEXT_TOKENS]
        self.prefixes = prefixes or Prefixes(paths.cache_dir() / "prefixes")
        self._lock = threading.Lock()

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """See `Backend.stream`. Waits while another answer is being written."""
        with self._lock:
            try:
                before, rest = self._tokens_of(prompt)
                self._open(before)
                self._llama.eval(rest)
                yield from self._choose([self._tokens(f"{line}\n") for line in prompt.lines])
            except (ValueError, RuntimeError) as error:
                self._llama.reset()
                raise BackendError(f"The language model {self.name} failed ({error}); the law is quoted instead.") from error

    def _tokens_of(self, prompt: Prompt) -> tuple[list[int], list[int]]:
        """The tokens of system and law, which repeat, and those of the rest."""
        system, law, user = (break_tokens(text, self._control) for text in (prompt.system, prompt.law, prompt.user))
        messages: Any = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        whole = self._format(messages=messages).prompt
        at = whole.rindex(user) + len(law)
        before, rest = self._tokens(whole[:at], special=True), self._tokens(whole[at:], special=True)
        room = CONTEXT_TOKENS - sum(sorted(len(self._tokens(f"{line}\n")) for line in prompt.lines)[-MAX_LINES:])
        if len(before) + len(rest) > room:
            raise ValueError(f"the prompt has {len(before) + len(rest)} tokens, {room} fit")
        return before, rest

    def _tokens(self, text: str, special: bool = False) -> list[int]:
        return list(self._llama.tokenize(text.encode("utf-8"), add_bos=False, special=special))

    def _open(self, tokens: list[int]) -> None:
        """Bring the model to the state behind these tokens: kept from before, or computed and then kept."""
        import llama_cpp

        llama, context = self._llama, self._llama.ctx
        if llama.n_tokens >= len(tokens) and list(llama.input_ids[: len(tokens)]) == tokens:
            llama.n_tokens = len(tokens)  # still there from the last question
            self.prefixes.hits += 1
            return
        key = sha256_value([*self._key, tokens])
        state = self.prefixes.get(key)
        llama.reset()
        if state:
            llama_cpp.llama_memory_seq_rm(llama_cpp.llama_get_memory(context), SEQUENCE, -1, -1)
            held = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
            if llama_cpp.llama_state_seq_set_data(context, held, len(state), SEQUENCE) == len(state):
                llama.input_ids[: len(tokens)] = tokens
                llama.n_tokens = len(tokens)
                return
        llama.eval(tokens)
        size = llama_cpp.llama_state_seq_get_size(context, SEQUENCE)
        room = (ctypes.c_uint8 * size)()
        if llama_cpp.llama_state_seq_get_data(context, room, size, SEQUENCE) == size:
            self.prefixes.put(key, bytes(room))

    def _choose(self, lines: list[list[int]]) -> Iterator[str]:
        """Up to `MAX_LINES` of the lines, each once, piece by piece; the model may end after the first."""
        left, end = [list(line) for line in dict.fromkeys(map(tuple, lines))], self._llama.token_eos()
        for number in range(min(MAX_LINES, len(left))):
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
            if left and number + 1 < MAX_LINES:
                self._llama.eval(line[begun - 1 :])

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
