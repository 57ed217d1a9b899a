"""What is told about a model in this process: how fast it is on this machine, and how often what it kept was of use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from index.errors import BackendError
from rag.backends.base import Backend
from rag.backends.budget import Speed
from rag.backends.prefixes import Prefixes


@runtime_checkable
class LocalModel(Protocol):
    """A backend whose speed is this machine's, and which keeps beginnings of prompts."""

    name: str
    prefixes: Prefixes

    def warm_up(self, system: str) -> Speed:
        """Compute the beginning that all prompts share, keep it, and plan by the speed measured. Raises `BackendError`."""
        ...


def warm_up(backend: Backend | None, system: str, say: Callable[[str], None]) -> None:
    """Warm a model in this process up, in the background, and tell its speed; nothing for any other backend."""
    if isinstance(backend, LocalModel):
        threading.Thread(target=_warm_up, args=(backend, system, say), daemon=True, name="warm-up").start()


def _warm_up(model: LocalModel, system: str, say: Callable[[str], None]) -> None:
    try:
        speed = model.warm_up(system)
    except BackendError as error:
        say(str(error))
    else:
        say(f"{model.name} writes {speed.writing:.1f} tokens a second here and reads {speed.reading:.0f}.")


def tell_kept(backend: Backend | None, say: Callable[[str], None]) -> None:
    """Tell for how many answers the beginning of the prompt was kept from before, if there were any."""
    if isinstance(backend, LocalModel):
        found, asked = backend.prefixes.hits, backend.prefixes.hits + backend.prefixes.misses
        if asked:
            say(f"The beginning of the prompt was kept from before for {found} of {asked} answers ({found / asked:.0%}).")
