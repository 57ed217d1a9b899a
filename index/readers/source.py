"""Read one source of a law book, whatever form it has, into pages of clean text; what cannot be read is one sentence."""

from __future__ import annotations

import codecs
import stat
from collections.abc import Callable
from pathlib import Path

from index.errors import BookError
from index.hashing import sha256_file
from index.readers.apart import read_apart
from index.readers.encoding import clean_text, decode, is_binary
from index.readers.reading import MAX_LINES, MAX_TEXT, SourceFile

MAX_BYTES = {"text": 16 << 20, "html": 16 << 20, "docx": 128 << 20, "pdf": 512 << 20}
"""Largest file of each form. The Laws of Duplicate Bridge are 0.2 MB of text and 2 MB of PDF."""
FORMS = {"pdf": "PDF", "docx": "Word file", "html": "web page"}

_HEAD = 1024
_SIGNATURES = (
    (b"%PDF-", "pdf"),
    (b"PK\x03\x04", "docx"),
    (b"PK\x05\x06", "docx"),
)
_OTHER_FORMS = (
    (b"\xd0\xcf\x11\xe0", "an old Word file; save it as .docx and import that"),
    (b"{\\rtf", "a Rich Text file; save it as .docx and import that"),
    (b"\x89PNG", "an image; run text recognition on it and import the text"),
    (b"\xff\xd8\xff", "an image; run text recognition on it and import the text"),
    (b"II*\x00", "an image; run text recognition on it and import the text"),
    (b"MM\x00*", "an image; run text recognition on it and import the text"),
    (b"AT&TFORM", "a DjVu file; print it to a PDF and import that"),
    (b"\x1f\x8b", "packed; unpack it and import what is in it"),
    (b"7z\xbc\xaf", "packed; unpack it and import what is in it"),
    (b"Rar!", "packed; unpack it and import what is in it"),
)


def read_source(path: Path, progress: Callable[[int, int], None] | None = None) -> SourceFile:
    """Read a PDF, a web page, a Word file or a text; what it is is told by its first bytes, then by its name.

    ``progress`` gets pages done and pages in all. Raises `BookError`, in one sentence, for what cannot be read; nothing
    takes more than some minutes and 2 GB, whatever is in the file.
    """
    form = _form(path)
    size = path.stat().st_size
    if size > MAX_BYTES[form]:
        raise BookError(
            f"{path.name} has {size >> 20} MB, a law book of this form at most {MAX_BYTES[form] >> 20}; import its laws only."
        )
    try:
        if form == "text":
            text, encoding = decode(path.read_bytes())
            if is_binary(text):
                raise BookError(f"{path.name} is no text but binary data; import a text, PDF, Word file or web page.")
            pages = tuple(page or "\n" for page in clean_text(text).removesuffix("\f").split("\f"))
            shown = f"text in {encoding}"
        else:
            pages, encoding = read_apart(form, path, progress)
            shown = f"{FORMS[form]} in {encoding}" if encoding else FORMS[form]
        digest = sha256_file(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    if not any(page.strip() for page in pages):
        raise BookError(f"{path.name} holds no text; import the file that has the laws.")
    if sum(map(len, pages)) > MAX_TEXT:
        raise BookError(f"{path.name} holds more than {MAX_TEXT:,} characters, no law book does; import its laws only.")
    if sum(page.count("\n") for page in pages) > MAX_LINES:
        raise BookError(f"{path.name} has more than {MAX_LINES:,} lines, no law book does; import its laws only.")
    return SourceFile(path.name, pages, shown, digest)


def _head(path: Path) -> bytes:
    """The first bytes of a file. Raises `BookError` for what is no file; a pipe or a device is not even opened."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BookError(f"{path} is a folder; name the files in it.")
        if not stat.S_ISREG(mode):
            raise BookError(f"{path} is no file; name a PDF, Word file, web page or text.")
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    except FileNotFoundError as error:
        raise BookError(f"There is no file {path}; check its name.") from error
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _form(path: Path) -> str:
    head = _head(path)
    if not head.strip():
        raise BookError(f"{path.name} is empty; import the file that has the laws.")
    for signature, what in _OTHER_FORMS:
        if head.startswith(signature):
            raise BookError(f"{path.name} is {what}.")
    start = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if b"%PDF-" in head:  # some programs write a few bytes before it
        return "pdf"
    for signature, form in _SIGNATURES:
        if start.startswith(signature):
            return form
    lower = start[:200].lower()
    if path.suffix.lower() in {".htm", ".html", ".xhtml"} or lower.startswith((b"<!doctype html", b"<html")):
        return "html"
    return "text"


def _unreadable(path: Path, error: OSError | ValueError) -> BookError:
    reason = getattr(error, "strerror", None) or str(error)
    return BookError(f"{path.name[:80]} cannot be read ({reason}); check the file.")
