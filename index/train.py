"""Train the embedder and its heads on our own texts (``make train``): resumable, up to an hour and a half on 2 cores.

In-batch contrastive training (multiple negatives ranking, all directions as in GTE, Li et al. 2023) of low-rank changes
(LoRA) to the linear layers of the default embedder, on the pairs of `index.pairs`, and together with it, from the same texts,
to tell apart what they state (`index.lessons`); on the vectors made so the heads (`index.heads`) are fitted at the end. The
result is `index.trained_part.FILE`; same seed and data, same result.
"""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from index.books import DEFAULT_BOOK, read_book
from index.embedder import model_hash
from index.errors import ModelError
from index.hashing import sha256_value
from index.heads import Heads, fit
from index.lessons import IRREGULARITY, Lessons
from index.pairs import Pair, batches, phrase_batches
from index.trained_part import HEADS_PREFIX

RANK, ALPHA = 32, 64
LAYERS = ("query", "key", "value", "dense")
TEMPERATURE = 0.03
BATCH, STEPS, SEED = 32, 800, 2017
PHRASES_SHARE = 0.18
"""Share of batches that are phrases, of which the heads learn most."""
STATED_WEIGHT = 1.0
"""Weight of the loss for what a text states beside the contrastive one."""
VECTOR_LENGTH = 16.0
"""Vectors have this length where it is told from them what a text states: with length 1 the scores would grow too slowly."""
NOT_STATED_WEIGHT = 0.4
"""Weight of a label "not stated": there are many of them, and a story may hint at more than was noted."""
IRREGULARITY_WEIGHT = 3.0
"""Weight of the label that names the irregularity: all else hangs on it."""
LEARNING_RATE = 7e-4
SCORES_LEARNING_RATE = 2e-3
MAX_TOKENS = 96
"""Texts are cut here while training, for speed; the opened model reads its full length."""
SAVE_EVERY = 40
SCORES = "tablelaw_scores"
"""Name, within the model while it is trained, of the layer that scores what a text states."""


@dataclass(frozen=True)
class Order:
    """What to train.

    ``base``: the folder of the base model; ``searched``: the text of each line of the lessons as it is searched, where that is
    another; ``target``: the file to write; ``work``: a folder for checkpoints.
    """

    base: Path
    lessons: Lessons
    searched: Mapping[str, str]
    target: Path
    work: Path
    steps: int = STEPS


def train(order: Order) -> None:
    """Train on the bundled book; goes on from the last checkpoint of the same pairs."""
    try:
        import torch
        from datasets import Dataset
        from peft import LoraConfig, inject_adapter_in_model
        from safetensors.torch import load_file
        from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    except ImportError as error:
        raise ModelError(
            f'Training needs more libraries ({error}); run: pip install -c constraints.txt -e ".[train]"'
        ) from error

    class Trainer(SentenceTransformerTrainer):
        """Goes on from a checkpoint with the low-rank changes in it, which a plain model of that folder would not hold."""

        def _load_from_checkpoint(self, checkpoint_path: str) -> None:
            self.model[0].auto_model.load_state_dict(load_file(Path(checkpoint_path) / "model.safetensors"))

        def create_optimizer(self, model: Any = None) -> Any:  # noqa: ARG002 - the library's signature
            """AdamW with a rate of its own for the scores, which start from nothing."""
            from torch.optim import AdamW

            trained = [weight for name, weight in self.model.named_parameters() if weight.requires_grad and SCORES not in name]
            groups: list[dict[str, Any]] = [
                {"params": trained},
                {"params": list(scores.parameters()), "lr": SCORES_LEARNING_RATE},
            ]
            self.optimizer = AdamW(groups, lr=LEARNING_RATE, weight_decay=0.01)
            return self.optimizer

    torch.manual_seed(SEED)  # the low-rank changes start from chance, before the trainer sets its own seed
    torch.set_flush_denormal(True)  # numbers too small to matter would slow the arithmetic down many times
    book = read_book(DEFAULT_BOOK)
    model = SentenceTransformer(str(order.base), device="cpu", local_files_only=True)
    prefixes = {name: model.prompts[name] for name in ("query", "passage")}
    full_length, model.max_seq_length = model.max_seq_length, MAX_TOKENS
    options = {name: list(question.options) for name, question in order.lessons.questions.items()}
    places = {name: k for k, name in enumerate((q, option) for q, of_one in options.items() for option in of_one)}
    scores = _new_scores(int(model.get_embedding_dimension() or 0), len(places))
    lora = LoraConfig(r=RANK, lora_alpha=ALPHA, lora_dropout=0.05, target_modules=list(LAYERS))
    inject_adapter_in_model(lora, model[0].auto_model)
    for name, weight in model.named_parameters():
        weight.requires_grad = ".lora_" in name
    setattr(model[0].auto_model, SCORES, scores)  # a part of the model, so that checkpoints hold them
    rows = [pair for batch in _mixed(book, order, prefixes) for pair in batch]
    table = _label_table(order.lessons, places, {line for pair in rows for line in pair.lines})
    data = Dataset.from_dict(
        {
            "anchor": [pair.anchor for pair in rows],
            "positive": [pair.positive for pair in rows],
            "label": [[table.number[line] for line in pair.lines] for pair in rows],
        }
    )
    pairs_hash = sha256_value([[pair.anchor, pair.positive] for pair in rows])
    own_work = order.work / pairs_hash[:16]  # what was trained on other pairs is never gone on with
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(own_work),
        max_steps=order.steps,
        per_device_train_batch_size=BATCH,
        learning_rate=LEARNING_RATE,
        warmup_steps=math.ceil(0.08 * order.steps),
        lr_scheduler_type="cosine",
        logging_steps=10,
        save_steps=SAVE_EVERY,
        save_total_limit=2,
        seed=SEED,
        report_to=[],
        use_cpu=True,
        bf16=True,
        batch_sampler=_in_order,
    )
    trainer = Trainer(model=model, args=arguments, train_dataset=data, loss=_loss_of(model, scores, table, options))
    trainer.train(resume_from_checkpoint=any(own_work.glob("checkpoint-*")))
    made = {
        "base_sha256": model_hash(order.base),
        "book_sha256": book.hash,
        "pairs_sha256": pairs_hash,
        "rank": RANK,
        "scale": ALPHA / RANK,
        "steps": order.steps,
        "batch": BATCH,
        "learning_rate": LEARNING_RATE,
        "temperature": TEMPERATURE,
        "seed": SEED,
        "date": date.today().isoformat(),
    }
    model.max_seq_length = full_length
    _write(model, _fitted_heads(model, order, prefixes["query"]), order.target, made)
    shutil.rmtree(own_work)


def _mixed(book: Any, order: Order, prefixes: dict[str, str]) -> Iterable[list[Pair]]:
    """Batches of the book's lines and of phrases, mixed by chance."""
    rng = random.Random(SEED)  # noqa: S311 - not for secrets
    lines = batches(book, prefixes, BATCH, order.steps, SEED)
    phrases = phrase_batches(order.lessons.phrases, prefixes["query"], BATCH, SEED)
    for _ in range(order.steps):
        yield next(phrases if rng.random() < PHRASES_SHARE else lines)


def _new_scores(dimension: int, count: int) -> Any:
    """A linear layer from a vector to the scores of all options, all zero to begin with."""
    from torch import nn

    layer = nn.Linear(dimension, count)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _fitted_heads(model: Any, order: Order, prefix: str) -> Heads:
    """Heads on the vectors that the trained model gives."""
    lines = list(order.lessons.lines())
    texts = [prefix + order.searched.get(line, line) for line, _ in lines]
    vectors = model.encode(texts, batch_size=BATCH, normalize_embeddings=True, prompt="", show_progress_bar=True)
    return fit(order.lessons.questions, vectors, [labels for _, labels in lines])


@dataclass(frozen=True)
class _Labels:
    """``number`` of each line, and by that number the columns of the options that it states, with their weights."""

    number: Mapping[str, int]
    columns: list[list[int]]
    weights: list[list[float]]


def _label_table(lessons: Lessons, places: Mapping[tuple[str, str], int], lines: set[str]) -> _Labels:
    labels = dict(lessons.labels)
    for texts, of_one in lessons.phrases:
        labels |= dict.fromkeys(texts, of_one)
    number: dict[str, int] = {}
    columns: list[list[int]] = []
    weights: list[list[float]] = []
    for line in sorted(lines):
        number[line] = len(columns)
        stated = labels.get(line, {})
        columns.append([places[name] for name in stated.items()])
        weights.append([_weight(question, option) for question, option in stated.items()])
    return _Labels(number, columns, weights)


def _weight(question: str, option: str) -> float:
    if question == IRREGULARITY:
        return IRREGULARITY_WEIGHT
    return 1.0 if option else NOT_STATED_WEIGHT


def _loss_of(model: Any, scores: Any, table: _Labels, options: Mapping[str, list[str]]) -> Any:
    import torch
    from sentence_transformers.losses import MultipleNegativesRankingLoss

    owner = torch.tensor([k for k, of_one in enumerate(options.values()) for _ in of_one])

    def log_chances(found: Any) -> Any:
        """Log of softmax within each question, shape ``(texts, options)``, of scores of that shape."""
        owners = owner.expand(len(found), -1)
        empty = found.new_zeros(len(found), len(options))
        highest = empty.scatter_reduce(1, owners, found, "amax", include_self=False).detach()
        shifted = found - highest[:, owner]
        return shifted - empty.index_add(1, owner, shifted.exp()).log()[:, owner]

    class Loss(MultipleNegativesRankingLoss):
        """The contrastive loss, and that of telling what the texts state."""

        def forward(self, sentence_features: Any, labels: Any) -> Any:
            read = [self.model(features)["sentence_embedding"] for features in sentence_features]
            loss = self.compute_loss_from_embeddings(read, None)
            parts, total = [], 0.0
            for vectors, numbers in zip(read, labels.T.tolist(), strict=True):
                chances = log_chances(scores(VECTOR_LENGTH * vectors).float())
                for row, number in enumerate(numbers):
                    if table.columns[number]:
                        weights = torch.tensor(table.weights[number])
                        parts.append(-(chances[row, table.columns[number]] * weights).sum())
                        total += float(weights.sum())
            return loss + STATED_WEIGHT * torch.stack(parts).sum() / total if parts else loss

    every = ("query_to_doc", "query_to_query", "doc_to_query", "doc_to_doc")
    return Loss(model, scale=1 / TEMPERATURE, directions=every, partition_mode="joint")


def _in_order(dataset: Any, batch_size: int, drop_last: bool, **_: Any) -> Any:
    """Batches as they were made."""
    from torch.utils.data import BatchSampler, SequentialSampler

    return BatchSampler(SequentialSampler(dataset), batch_size, drop_last)


def _write(model: Any, heads: Heads, target: Path, made: dict[str, Any]) -> None:
    import torch
    from safetensors.torch import save_file

    of_heads = {"weights": heads.weights, "bias": heads.bias}
    tensors = {HEADS_PREFIX + name: torch.tensor(value, dtype=torch.float16) for name, value in of_heads.items()}
    for key, value in model[0].auto_model.state_dict().items():
        for half, name in (("lora_A", "A"), ("lora_B", "B")):
            if f".{half}." in key:
                layer = key.split(f".{half}.")[0]
                tensors[f"{layer}.{name}"] = value.detach().to(torch.float16).contiguous()
    target.parent.mkdir(parents=True, exist_ok=True)
    metadata = {"made": json.dumps(made, sort_keys=True), "options": json.dumps(heads.options)}
    save_file(tensors, target, metadata=metadata)
