"""Measure how well the language model reads a story by multiple choice, beside heads and words, on held-out stories.

``python -m eval.choice [--stories N]``: the options of a question are compared by the logits of their letters; the story is
computed once and shared by its questions. For the irregularity the options are the likeliest five procedures; for a fact its
options and "the report does not say". Kept out of the product as long as it reads worse than what it costs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import yaml
from rich.progress import track

import prompts
from eval.held_out import held_out, searched
from index.lessons import IRREGULARITY, NOT_STATED
from index.stories import Story
from rag.calibration import calibration_for
from rag.lessons import labels_of
from rag.mixing import read_text
from rag.models import find_gguf, open_embedder
from rag.procedure import read_facts, read_procedures

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CANDIDATES = 5
NOT_STATED_ASKED = 2
"""Facts asked of each story that it does not state."""
CONTEXT = 2048


class Chooser:
    """Answers multiple-choice questions about one story after another."""

    def __init__(self, path: Path) -> None:
        import llama_cpp
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        self._llama = llama_cpp.Llama(str(path), n_ctx=CONTEXT, verbose=False)
        self._texts: dict[str, str] = yaml.safe_load(
            (Path(prompts.__file__).resolve().parent / "choice.yaml").read_text(encoding="utf-8")
        )
        template = self._llama.metadata["tokenizer.chat_template"]
        self._format = Jinja2ChatFormatter(template=template, eos_token="", bos_token="")
        self._letters = [self._tokens(letter)[0] for letter in LETTERS]
        self._story: list[int] = []
        self._rest = ""

    def tell(self, story: str) -> None:
        """Read a story; the questions that follow are about it."""
        told = jinja2.Template(self._texts["story"]).render(story=story)
        messages: Any = [{"role": "system", "content": self._texts["system"]}, {"role": "user", "content": told}]
        before, _, self._rest = self._format(messages=messages).prompt.partition(told)
        self._story = self._tokens(before + told)
        self._llama.reset()
        self._llama.eval(self._story)

    def choose(self, question: str, options: Sequence[str]) -> int:
        """The number of the option that the model takes."""
        import llama_cpp

        asked = jinja2.Template(self._texts["question"], trim_blocks=True).render(question=question, options=options)
        self._llama.n_tokens = len(self._story)
        self._llama.eval(self._tokens(f"\n\n{asked}{self._rest}"))
        logits = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        values = np.ctypeslib.as_array(logits, shape=(self._llama.n_vocab(),))
        return int(values[self._letters[: len(options)]].argmax())

    def irregularity(self, candidates: Sequence[str]) -> str:
        """The procedure that the model takes."""
        titles = [read_procedures()[name].title.en for name in candidates]
        return candidates[self.choose(self._texts[IRREGULARITY], titles)]

    def fact(self, name: str) -> str:
        """The option of a fact that the model takes, "" for not stated."""
        fact = read_facts()[name]
        labels = [option.label.en for option in fact.options] + [self._texts["not_stated"]]
        chosen = self.choose(fact.question.en, labels)
        return fact.options[chosen].id if chosen < len(fact.options) else NOT_STATED

    def _tokens(self, text: str) -> list[int]:
        return list(self._llama.tokenize(text.encode("utf-8"), add_bos=False, special=True))


def main() -> None:
    """Print the figures as k/n."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=40)
    parser.add_argument("--llm", default="llm", help="GGUF file or role (default: the product's model)")
    options = parser.parse_args()
    chooser, embedder = Chooser(find_gguf(options.llm)), open_embedder()
    calibration = calibration_for(embedder.hash)
    rng = random.Random(0)  # noqa: S311 - not for secrets
    stories = [story for story in held_out() if story.procedure]
    right: dict[str, list[bool]] = {}
    for story in track(rng.sample(stories, min(options.stories, len(stories))), "Stories"):
        chances = read_text(embedder, searched(story), calibration.mixing if calibration else None)[1] or {}
        ranked = sorted((name for name in chances[IRREGULARITY] if name), key=lambda name: -chances[IRREGULARITY][name])
        chooser.tell(story.q)
        candidates = rng.sample(ranked[:CANDIDATES], CANDIDATES)
        right.setdefault("irregularity, heads and words", []).append(ranked[0] == story.procedure)
        right.setdefault("irregularity, model", []).append(chooser.irregularity(candidates) == story.procedure)
        for name, truth in _asked(story, rng):
            kind = "stated fact" if truth else "fact not stated"
            read = chances[name]
            right.setdefault(f"{kind}, heads and words", []).append(max(read, key=lambda one: read[one]) == truth)
            right.setdefault(f"{kind}, model", []).append(chooser.fact(name) == truth)
    for name, found in sorted(right.items()):
        print(f"{name}: {sum(found)}/{len(found)}")


def _asked(story: Story, rng: random.Random) -> list[tuple[str, str]]:
    """The facts that are asked of a story, with the truth: those it states, and some it does not."""
    labels = {name: option for name, option in labels_of(story).items() if name != IRREGULARITY}
    silent = sorted(name for name, option in labels.items() if option == NOT_STATED)
    chosen = [*(name for name, option in labels.items() if option), *rng.sample(silent, min(NOT_STATED_ASKED, len(silent)))]
    return [(name, labels[name]) for name in chosen]


if __name__ == "__main__":
    main()
