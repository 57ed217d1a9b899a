"""``python -m rag.train`` (or ``make train``): train the embedder and its heads on the book, the stories and the procedures."""

from __future__ import annotations

import argparse
from pathlib import Path

from index import paths
from index.embedder import DEFAULT_EMBEDDER
from index.train import STEPS, Order, train
from index.trained_part import FILE
from rag.lessons import lessons


def main() -> None:
    """Train and write the trained part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    base = paths.models_dir() / DEFAULT_EMBEDDER
    train(Order(base, lessons(), options.out, paths.cache_dir() / "training", options.steps))


if __name__ == "__main__":
    main()
