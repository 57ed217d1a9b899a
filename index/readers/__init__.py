"""One reader a layout: of the files of a book folder, and of the sources that books are imported from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from index.readers.commentary import read_commentary_dc4
from index.readers.generic import read_generic
from index.readers.laws1987 import read_laws_1987
from index.readers.laws2017 import read_laws_2017
from index.readers.markdown import read_markdown
from index.readers.reading import ImportReader
from index.readers.stored import read_stored
from index.types import Clause

Reader = Callable[[Sequence[Path]], tuple[Clause, ...]]

READERS: dict[str, Reader] = {"markdown": read_markdown, "stored": read_stored}
"""Name in ``book.yaml`` (``reader:``) -> the function that reads those files."""

IMPORT_READERS: dict[str, ImportReader] = {
    "generic": read_generic,
    "laws-2017": read_laws_2017,
    "laws-1987-ru": read_laws_1987,
    "dc4-ru": read_commentary_dc4,
}
"""Name of ``tablelaw book import --reader`` -> the function that reads such sources."""
