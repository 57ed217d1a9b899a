"""One reader a source layout: each turns the files of a book folder into clauses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from index.readers.markdown import read_markdown
from index.readers.reading import ImportReader
from index.types import Clause

Reader = Callable[[Sequence[Path]], tuple[Clause, ...]]

READERS: dict[str, Reader] = {"markdown": read_markdown}
"""Name in ``book.yaml`` (``reader:``) -> the function that reads those files."""

IMPORT_READERS: dict[str, ImportReader] = {}
"""Name of ``tablelaw book import --reader`` -> the function that reads such sources."""
