"""What the words of a story tell: the irregularity and the facts, by logistic regression over words and letter groups.

Beside the embedder's heads, which know meanings: they err on different stories. Features: stemmed words and pairs of them, and
groups of 3 to 5 letters, hashed, weighted by tf-idf. Trained by `rag.train` on the same lessons as they, stored sparse.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.bm25 import words
from index.embedder import Chances
from index.errors import ModelError
from index.heads import regression, taught
from index.lessons import Lessons

PATH = Path(__file__).resolve().parent / "trained" / "words.npz"
BITS = 15
"""Each kind of feature is hashed into so many bits."""
STRENGTH = {"irregularity": 10.0}
"""Inverse strength of the regularisation, by question; of facts it is `FACT_STRENGTH`."""
FACT_STRENGTH = 5.0
ITERATIONS = 200
LEAST = 0.03
"""Weights smaller than this are not stored."""
MIN_COUNT = 2
"""A feature of fewer texts is left out."""


class Lexical:
    """The stored weights. ``options`` names the classes of each question, in the order of their rows in ``weights``."""

    def __init__(self, options: Mapping[str, Sequence[str]], idf: NDArray[np.float32], weights: Any, bias: Any) -> None:
        self.options = options
        self._idf, self._weights, self._bias = idf, weights, bias

    def read(self, text: str) -> Chances:
        """Question -> option -> probability; questions that too little was taught about are not there."""
        scores = np.asarray((self._weights @ _features([text], self._idf).T).todense()).ravel() + self._bias
        found, at = {}, 0
        for name, of_one in self.options.items():
            part = scores[at : at + len(of_one)]
            chances = np.exp(part - part.max())
            found[name] = dict(zip(of_one, (chances / chances.sum()).tolist(), strict=True))
            at += len(of_one)
        return found

    def save(self, path: Path) -> None:
        """Write one file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        sparse = self._weights.tocsr()
        np.savez_compressed(
            path,
            options=np.array(json.dumps(self.options)),
            idf=self._idf.astype(np.float16),
            data=sparse.data.astype(np.float16),
            indices=sparse.indices.astype(np.uint16),
            indptr=sparse.indptr.astype(np.uint32),
            bias=self._bias.astype(np.float32),
        )


def load(path: Path = PATH) -> Lexical:
    """The stored weights. Raises `ModelError` when the file is damaged."""
    from scipy.sparse import csr_matrix

    try:
        with np.load(path) as file:
            parts = (file["data"].astype(np.float32), file["indices"].astype(np.int32), file["indptr"].astype(np.int32))
            bias = file["bias"]
            weights = csr_matrix(parts, shape=(len(bias), 2 << BITS))
            return Lexical(json.loads(str(file["options"])), file["idf"].astype(np.float32), weights, bias)
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"{path} is damaged ({error}); restore the file.") from error


@lru_cache(maxsize=1)
def lexical() -> Lexical | None:
    """The weights that come with the program; ``None`` where they, or the libraries they need, are not there."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        return None
    return load() if PATH.exists() else None


def train(lessons: Lessons, searched: Mapping[str, str]) -> Lexical:
    """Fit the weights. ``searched``: the text of each line as it is searched (terms added); stories held out are left out."""
    from scipy.sparse import csr_matrix, vstack

    lines = [(searched.get(line, line), labels) for line, labels in lessons.lines()]
    texts = [text for text, _ in lines]
    idf = _idf(texts)
    given = _features(texts, idf)
    options: dict[str, list[str]] = {}
    weights, bias = [], []
    for question in lessons.questions:
        rows, told = taught(question, [labels for _, labels in lines])
        if len(set(told)) < 2:  # noqa: PLR2004 - nothing to tell apart
            continue
        options[question], coefficients, of_one = regression(
            given[rows], told, STRENGTH.get(question, FACT_STRENGTH), ITERATIONS
        )
        weights.append(csr_matrix(np.where(np.abs(coefficients) >= LEAST, coefficients, 0.0).astype(np.float32)))
        bias.append(of_one)
    return Lexical(options, idf, vstack(weights), np.concatenate(bias).astype(np.float32))


@lru_cache(maxsize=1)
def _vectorizers() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import HashingVectorizer

    shared = {"n_features": 1 << BITS, "alternate_sign": False, "norm": None, "dtype": np.float32}
    letters = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), **shared)
    return HashingVectorizer(analyzer=_word_groups, **shared), letters


def _word_groups(text: str) -> list[str]:
    said = words(text)
    return [*said, *(f"{first} {second}" for first, second in pairwise(said))]


def _counts(texts: Sequence[str]) -> Any:
    from scipy.sparse import hstack

    return hstack([vectorizer.transform(texts) for vectorizer in _vectorizers()]).tocsr()


def _idf(texts: Sequence[str]) -> NDArray[np.float32]:
    """Inverse document frequencies; 0 for features of too few texts."""
    seen = np.asarray((_counts(texts) > 0).sum(axis=0)).ravel()
    return np.where(seen >= MIN_COUNT, np.log((1 + len(texts)) / (1 + seen)) + 1, 0.0).astype(np.float32)


def _features(texts: Sequence[str], idf: NDArray[np.float32]) -> Any:
    """Tf-idf with logarithmic counts; words and letter groups each have length 1."""
    from scipy.sparse import diags, hstack
    from sklearn.preprocessing import normalize

    counted = _counts(texts)
    counted.data = 1 + np.log(counted.data)
    weighted = (counted @ diags(idf)).tocsc()
    halves = weighted[:, : 1 << BITS], weighted[:, 1 << BITS :]
    return hstack([normalize(half.tocsr()) for half in halves]).tocsr()
