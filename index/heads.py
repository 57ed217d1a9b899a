"""Heads over the embedder's token states: which irregularity a story tells, and which facts it states.

One pass of the embedder serves search and all heads. A *question* (a fact, or ``irregularity``) attends over the tokens with a
query of its own (attention pooling, 4 heads), and each of its options scores the pooled vector. The option ``""`` means "not
stated" (for ``irregularity``: none of them). Trained together with the embedder (`index.train`), stored in its trained part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

HEADS, KEY = 4, 64
"""Attention heads of a question, and the width of their keys."""
DROPOUT = 0.2
LIKENESS = 6.0
"""How strongly an untrained option answers to texts like its own."""
Options = Mapping[str, Sequence[str]]
"""Question -> its options, in order."""


class Heads(nn.Module):
    """Scores every option of every question from token states.

    ``options`` names them; ``width`` is that of the token states. ``queries`` of shape ``(questions, width)`` and ``anchors``
    of shape ``(options, width)`` are embeddings of their texts, by which similar questions and options share what they learn.
    """

    owner: Tensor
    queries: Tensor
    anchors: Tensor

    def __init__(self, options: Options, queries: Tensor, anchors: Tensor) -> None:
        super().__init__()
        self.options = {name: tuple(of_one) for name, of_one in options.items()}
        width = queries.shape[1]
        owner = [k for k, of_one in enumerate(self.options.values()) for _ in of_one]
        self.register_buffer("owner", torch.tensor(owner), persistent=False)
        self.register_buffer("queries", queries)
        self.register_buffer("anchors", anchors)
        self.query = nn.Linear(width, HEADS * KEY)
        self.query_change = nn.Parameter(torch.zeros_like(queries))
        self.key = nn.Linear(width, HEADS * KEY, bias=False)
        self.value = nn.Linear(width, width)
        self.pooled = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.option = nn.Linear(width, width, bias=False)
        self.option_change = nn.Parameter(torch.zeros_like(anchors))
        self.bias = nn.Parameter(torch.zeros(len(anchors)))
        self.dropout = nn.Dropout(DROPOUT)
        with torch.no_grad():  # to begin with, an option scores by the likeness of its texts to what was read
            for layer, scale in ((self.pooled, 1.0), (self.value, 0.5), (self.option, LIKENESS)):
                layer.weight.copy_(scale * torch.eye(width))
                if layer.bias is not None:
                    layer.bias.zero_()

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Log probabilities of the options within their questions, shape ``(texts, options)``.

        ``states`` has shape ``(texts, tokens, width)``, ``mask`` ``(texts, tokens)`` with 1 for tokens that count.
        """
        texts, tokens, width = states.shape
        query = self.query(self.queries + self.query_change).view(-1, HEADS, KEY)
        key = self.key(self.dropout(states)).view(texts, tokens, HEADS, KEY)
        attention = torch.einsum("qhd,tnhd->tqhn", query, key).float() / math.sqrt(KEY)
        attention = attention.masked_fill(mask[:, None, None] == 0, -1e9).softmax(-1).to(states.dtype)
        value = self.value(states).view(texts, tokens, HEADS, width // HEADS)
        read = torch.einsum("tqhn,tnhd->tqhd", attention, value).reshape(texts, -1, width)
        weights = mask[..., None].to(states.dtype)
        mean = (states * weights).sum(1) / weights.sum(1)
        read = self.dropout(self.norm(read + self.pooled(mean)[:, None]))
        option = self.option(self.anchors) + self.option_change
        scores = torch.einsum("tod,od->to", read[:, self.owner], option).float() / math.sqrt(width) + self.bias
        return self._log_softmax(scores)

    def _log_softmax(self, scores: Tensor) -> Tensor:
        """Softmax within each question."""
        owner = self.owner.expand(len(scores), -1)
        highest = scores.new_zeros(len(scores), len(self.options)).scatter_reduce(1, owner, scores, "amax", include_self=False)
        shifted = scores - highest.detach()[:, self.owner]
        sums = scores.new_zeros(len(scores), len(self.options)).index_add(1, self.owner, shifted.exp())
        return shifted - sums.log()[:, self.owner]

    def places(self) -> dict[tuple[str, str], int]:
        """(question, option) -> its column."""
        names = [(name, option) for name, of_one in self.options.items() for option in of_one]
        return {name: k for k, name in enumerate(names)}

    def read(self, states: Tensor, mask: Tensor) -> list[dict[str, dict[str, float]]]:
        """For each text, question -> option -> probability."""
        with torch.inference_mode():
            chances = self(states, mask).exp().tolist()
        found = []
        for row in chances:
            values = iter(row)
            found.append({name: {option: next(values) for option in of_one} for name, of_one in self.options.items()})
        return found


def heads_from(options: Options, tensors: Mapping[str, Any]) -> Heads:
    """The heads that were stored as ``tensors`` (`torch.nn.Module.state_dict`, in half precision)."""
    queries, anchors = tensors["queries"].float(), tensors["anchors"].float()
    if (len(options), sum(map(len, options.values()))) != (len(queries), len(anchors)):
        raise ValueError(f"{len(queries)} questions and {len(anchors)} options are stored, others are named")
    heads = Heads(options, queries, anchors)
    heads.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return heads.eval()
