"""The control tokens of a model, and text in which none of them can be read.

llama.cpp reads the whole prompt at once, so that ``</s>`` or ``<tool_call>`` in a clause would be the token of that name.
`rag.prompt` takes the sting out of ``<|...|>`` for every model; this asks the model that is loaded for all it has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

COMMON_TOKENS = (
    *("<｜", "｜>", "<<SYS>>", "<</SYS>>", "<bos>", "<eos>", "<pad>", "<unk>", "<s>", "</s>"),
    *("[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]"),
    *("<start_of_turn>", "<end_of_turn>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>"),
)
"""Of the models that are served most; which of them a server has nobody tells us, and it too may read the prompt at once."""
_SHORTEST = 3


def control_tokens(llama: Any) -> tuple[str, ...]:
    """Texts of a loaded model's control tokens, longest first; not the blanks and plain words that some models add."""
    import llama_cpp

    vocab = llama_cpp.llama_model_get_vocab(llama.model)
    special = llama_cpp.LLAMA_TOKEN_ATTR_CONTROL | llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
    texts = (
        llama_cpp.llama_vocab_get_text(vocab, token).decode("utf-8", "replace")
        for token in range(llama.n_vocab())
        if llama_cpp.llama_vocab_get_attr(vocab, token) & special
    )
    return tuple(sorted({text for text in texts if _is_mark(text)}, key=lambda text: (-len(text), text)))


def break_tokens(text: str, tokens: tuple[str, ...]) -> str:
    """The text with a blank behind the first character of every control token in it."""
    if not tokens:
        return text
    return _pattern(tokens).sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)


def _is_mark(text: str) -> bool:
    return len(text) >= _SHORTEST and not text[0].isalnum() and not text[-1].isalnum() and not re.search(r"[\s▁]", text)


@lru_cache(maxsize=4)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, tokens)))
