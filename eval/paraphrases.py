"""Dev questions told by another person, and in the other language (``paraphrases.jsonl``: id, paraphrase, translation)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from eval.gold import Gold
from index.errors import ContractError

PATH = Path(__file__).resolve().parent / "paraphrases.jsonl"
_OTHER: dict[str, Literal["en", "ru"]] = {"en": "ru", "ru": "en"}


def retold(gold: Sequence[Gold], how: Literal["paraphrase", "translation"]) -> list[Gold]:
    """Those of the questions that were retold, in their other form. Raises `ContractError` when the file is damaged."""
    try:
        rows = {row["id"]: row for row in map(json.loads, PATH.read_text(encoding="utf-8").splitlines())}
        found = []
        for one in gold:
            if one.id in rows:
                lang = _OTHER[one.lang] if how == "translation" else one.lang
                found.append(one.model_copy(update={"question": rows[one.id][how], "lang": lang}))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ContractError(f"{PATH.name} is damaged ({error}); restore the file.") from error
    return found
