"""``python -m rag.train`` (or ``make train``): train what reads and finds, on the book, the stories and the procedures.

First the weights over words (`rag.lexical`, some minutes), then the embedder and its heads (`index.train`, up to an hour and
a half).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from index import paths
from index.embedder import DEFAULT_EMBEDDER
from index.train import STEPS, Order, train
from index.trained_part import FILE
from rag.lessons import lessons, searched_lines
from rag.lexical import PATH as WORDS
from rag.lexical import train as train_words


def main() -> None:
    """Train and write the trained part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--only-words", action="store_true", help="train the weights over words only")
    options = parser.parse_args()
    train_words(lessons(), searched_lines()).save(WORDS)
    if options.only_words:
        return
    base = paths.models_dir() / DEFAULT_EMBEDDER
    train(Order(base, lessons(), searched_lines(), options.out, paths.cache_dir() / "training", options.steps))


if __name__ == "__main__":
    main()
