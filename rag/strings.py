"""The words shown to people, one YAML file a language in ``rag/page/strings``; a language is added by adding a file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

from index.books import EDITION_IN_FORCE
from index.errors import ContractError

FOLDER = Path(__file__).resolve().parent / "page" / "strings"
FALLBACK = "en"


@lru_cache(maxsize=16)
def strings(lang: str) -> dict[str, str]:
    """All strings of a language (English for one that has no file). Raises `ContractError` for a damaged file."""
    path = FOLDER / f"{lang}.yaml"
    if not path.exists():
        path = FOLDER / f"{FALLBACK}.yaml"
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {str(key): " ".join(str(value).split()) for key, value in data.items()}
    except (OSError, yaml.YAMLError, AttributeError) as error:
        raise ContractError(f"{path.name} is damaged ({error}); restore the file.") from error


def languages() -> tuple[str, ...]:
    """Languages that have a file."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def authority(lang: str, edition: str, source: str) -> str:
    """The one line under every answer: who rules, which edition, whose wording (``restated`` or ``imported``).

    A superseded edition is named as such first.
    """
    text = strings(lang)
    line = text["authority"].format(edition=edition, wording=text[f"wording_{source}"])
    return line if edition == EDITION_IN_FORCE else f"{text['not_in_force'].format(edition=edition)} {line}"
