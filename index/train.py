"""Train the embedder on our own texts: ``python -m index.train`` (or ``make train``), resumable, about half an hour on 2 cores.

In-batch contrastive training (multiple negatives ranking) of low-rank changes (LoRA) to the linear layers of the default
embedder, on the pairs of `index.pairs`. The result is `index.trained_part.FILE`; the same seed and data give the same part.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
from datetime import date
from pathlib import Path
from typing import Any

from index import paths
from index.books import DEFAULT_BOOK, read_book
from index.embedder import DEFAULT_EMBEDDER, model_hash
from index.errors import ModelError
from index.hashing import sha256_value
from index.pairs import batches
from index.trained_part import FILE

RANK, ALPHA = 32, 64
LAYERS = ("query", "key", "value", "dense")
TEMPERATURE = 0.03
BATCH, STEPS, SEED = 32, 300, 2017
LEARNING_RATE = 6e-4
MAX_TOKENS = 72
"""Texts are cut here while training, for speed; the opened model reads its full length."""
SAVE_EVERY = 50


def train(base: Path, target: Path, steps: int, work: Path) -> None:
    """Train on the bundled book and write the part to ``target``; goes on from the last checkpoint in ``work``."""
    try:
        from datasets import Dataset
        from peft import LoraConfig, inject_adapter_in_model
        from safetensors.torch import load_file
        from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
        from sentence_transformers.losses import MultipleNegativesRankingLoss
    except ImportError as error:
        raise ModelError(
            f'Training needs more libraries ({error}); run: pip install -c constraints.txt -e ".[train]"'
        ) from error

    class Trainer(SentenceTransformerTrainer):
        """Goes on from a checkpoint with the low-rank changes in it, which a plain model of that folder would not hold."""

        def _load_from_checkpoint(self, checkpoint_path: str) -> None:
            self.model[0].auto_model.load_state_dict(load_file(Path(checkpoint_path) / "model.safetensors"))

    book = read_book(DEFAULT_BOOK)
    model = SentenceTransformer(str(base), device="cpu", local_files_only=True)
    prefixes = {name: model.prompts[name] for name in ("query", "passage")}
    model.max_seq_length = MAX_TOKENS
    lora = LoraConfig(r=RANK, lora_alpha=ALPHA, lora_dropout=0.05, target_modules=list(LAYERS))
    inject_adapter_in_model(lora, model[0].auto_model)
    for name, weight in model.named_parameters():
        weight.requires_grad = ".lora_" in name
    rows = [row for batch in batches(book, prefixes, BATCH, steps, SEED) for row in batch]
    data = Dataset.from_dict({key: [getattr(row, key) for row in rows] for key in ("anchor", "positive")})
    pairs_hash = sha256_value([[row.anchor, row.positive] for row in rows])
    own_work = work / pairs_hash[:16]  # what was trained on other pairs is never gone on with
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(own_work),
        max_steps=steps,
        per_device_train_batch_size=BATCH,
        learning_rate=LEARNING_RATE,
        warmup_steps=math.ceil(0.1 * steps),
        lr_scheduler_type="cosine",
        weight_decay=0.01,
        logging_steps=10,
        save_steps=SAVE_EVERY,
        save_total_limit=2,
        seed=SEED,
        report_to=[],
        use_cpu=True,
        bf16=True,
        batch_sampler=_in_order,
    )
    loss = MultipleNegativesRankingLoss(model, scale=1 / TEMPERATURE)
    trainer = Trainer(model=model, args=arguments, train_dataset=data, loss=loss)
    trainer.train(resume_from_checkpoint=any(own_work.glob("checkpoint-*")))
    made = {
        "base_sha256": model_hash(base),
        "book_sha256": book.hash,
        "pairs_sha256": pairs_hash,
        "rank": RANK,
        "scale": ALPHA / RANK,
        "steps": steps,
        "batch": BATCH,
        "learning_rate": LEARNING_RATE,
        "temperature": TEMPERATURE,
        "seed": SEED,
        "date": date.today().isoformat(),
    }
    _write(model, target, made)
    shutil.rmtree(own_work)


def _in_order(dataset: Any, batch_size: int, drop_last: bool, **_: Any) -> Any:
    """Batches as `index.pairs.batches` made them."""
    from torch.utils.data import BatchSampler, SequentialSampler

    return BatchSampler(SequentialSampler(dataset), batch_size, drop_last)


def _write(model: Any, target: Path, made: dict[str, Any]) -> None:
    import torch
    from safetensors.torch import save_file

    tensors = {}
    for key, value in model[0].auto_model.state_dict().items():
        for half, name in (("lora_A", "A"), ("lora_B", "B")):
            if f".{half}." in key:
                layer = key.split(f".{half}.")[0]
                tensors[f"{layer}.{name}"] = value.detach().to(torch.float16).contiguous()
    target.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, target, metadata={"made": json.dumps(made, sort_keys=True)})


def main() -> None:
    """Train and write the part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    train(paths.models_dir() / DEFAULT_EMBEDDER, options.out, options.steps, paths.cache_dir() / "training")


if __name__ == "__main__":
    main()
