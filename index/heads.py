"""Heads over the embedder's vector: which irregularity a story tells, and which facts it states.

For each *question* (a fact, or ``irregularity``) a multinomial logistic regression over the text's query vector; the option
``""`` means "not stated" (for ``irregularity``: none of them). The embedder is trained so that the options can be told apart
(`index.train`), then the regressions are fitted on its vectors. Stored in the trained part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from index.lessons import Labels

STRENGTH = 30.0
"""Inverse strength of the regularisation."""
ITERATIONS = 300
Options = Mapping[str, Sequence[str]]
"""Question -> its options, in order."""
Vectors = NDArray[np.float32]


class Heads:
    """The regressions: ``weights`` of shape ``(options, dimension)`` and ``bias`` ``(options,)``, in their order."""

    def __init__(self, options: Options, weights: Vectors, bias: Vectors) -> None:
        count = sum(map(len, options.values()))
        if len(weights) != count or bias.shape != (count,):
            raise ValueError(f"{len(weights)} options are stored, {count} are named")
        self.options = {name: tuple(of_one) for name, of_one in options.items()}
        self.weights, self.bias = weights, bias

    def read(self, vectors: Vectors) -> list[dict[str, dict[str, float]]]:
        """For each vector (rows, shape ``(texts, dimension)``), question -> option -> probability."""
        return [self._softmax(row) for row in vectors @ self.weights.T + self.bias]

    def _softmax(self, scores: Vectors) -> dict[str, dict[str, float]]:
        found, at = {}, 0
        for name, of_one in self.options.items():
            part = scores[at : at + len(of_one)]
            chances = np.exp(part - part.max())
            found[name] = dict(zip(of_one, (chances / chances.sum()).tolist(), strict=True))
            at += len(of_one)
        return found


def fit(questions: Iterable[str], vectors: Vectors, labels: Sequence[Labels]) -> Heads:
    """Regressions on these vectors; a question of which fewer than two options were taught has none."""
    options: dict[str, list[str]] = {}
    weights, biases = [], []
    for question in questions:
        rows, told = taught(question, labels)
        if len(set(told)) < 2:  # noqa: PLR2004 - nothing to tell apart
            continue
        options[question], coefficients, bias = regression(vectors[rows], told, STRENGTH, ITERATIONS)
        weights.append(coefficients)
        biases.append(bias)
    return Heads(options, np.vstack(weights).astype(np.float32), np.concatenate(biases).astype(np.float32))


def taught(question: str, labels: Iterable[Labels]) -> tuple[list[int], list[str]]:
    """The texts that say something of a question, and what."""
    found = [(row, of_one[question]) for row, of_one in enumerate(labels) if question in of_one]
    return [row for row, _ in found], [option for _, option in found]


def regression(
    features: object, told: Sequence[str], strength: float, iterations: int
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Classes of a multinomial logistic regression, weights of shape ``(classes, features)``, and biases."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=strength, max_iter=iterations).fit(features, told)
    weights, bias = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # noqa: PLR2004 - then the library has one row for both
        weights, bias = np.vstack([-weights[0] / 2, weights[0] / 2]), np.array([-bias[0] / 2, bias[0] / 2])
    return [str(one) for one in model.classes_], weights, bias
