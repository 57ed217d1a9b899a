"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from index.errors import ContractError


def write_file(path: Path, pieces: Iterable[str], instead: str = "name another file") -> None:
    """Write a file whole or leave what was there.

    Raises `ContractError` when it cannot be written, ending in what to do ``instead``.
    """
    try:
        number, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        fresh = Path(name)
        try:
            with os.fdopen(number, "w", encoding="utf-8", newline="") as stream:
                stream.writelines(pieces)
                stream.flush()
                os.fsync(number)
            os.replace(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise ContractError(f"{path} cannot be written ({error.strerror}); {instead}.") from error
