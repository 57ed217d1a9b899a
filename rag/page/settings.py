"""What a device has chosen: language, book, model, text size, dark or light; kept in its cookies and never trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol, get_args

from fastapi import Response

from index.wording import law_books
from rag.page.render import choose_language
from rag.strings import languages

Size = Literal["normal", "large", "huge"]
Theme = Literal["auto", "light", "dark"]
Model = Literal["on", "off"]
READ_BY_SCRIPT = ("size", "theme")
"""These the page's script applies before the first paint; the others it need not read."""
_YEAR = 365 * 24 * 3600
_PREFIX = "tablelaw_"


@dataclass(frozen=True)
class Settings:
    """The choices of one device; empty: as the browser's languages say, and the book that is served."""

    lang: str = ""
    book: str = ""
    model: Model = "on"
    size: Size = "normal"
    theme: Theme = "auto"

    @property
    def uses_model(self) -> bool:
        """Whether a language model may write this device's answers."""
        return self.model == "on"


class Asked(Protocol):
    """What requests have in common: FastAPI's, Gradio's, and those that the guard sees."""

    @property
    def cookies(self) -> Any:
        """Name -> value."""

    @property
    def headers(self) -> Any:
        """Name -> value."""


def allowed(name: str) -> tuple[str, ...]:
    """The values that a setting can have on this machine today."""
    if name == "lang":
        return ("", *languages())
    if name == "book":
        return ("", *law_books())
    return get_args({"model": Model, "size": Size, "theme": Theme}[name])


def read_settings(cookies: Mapping[str, str]) -> Settings:
    """The device's settings; what it sends and cannot be is as if it were not there."""
    return choose(Settings(), {one.name: cookies.get(_PREFIX + one.name, "") for one in fields(Settings)})


def choose(before: Settings, chosen: Mapping[str, str]) -> Settings:
    """The settings with those that were chosen and can be."""
    taken: dict[str, Any] = {
        one.name: chosen[one.name] for one in fields(Settings) if one.name in chosen and chosen[one.name] in allowed(one.name)
    }
    return replace(before, **taken)


def keep_settings(response: Response, settings: Settings, is_secure: bool) -> None:
    """Send the settings to the device, for a year."""
    for one in fields(Settings):
        response.set_cookie(
            _PREFIX + one.name,
            getattr(settings, one.name),
            max_age=_YEAR,
            httponly=one.name not in READ_BY_SCRIPT,
            samesite="lax",
            secure=is_secure,
        )


def language_of(request: Asked) -> str:
    """The language of the pages on this device."""
    chosen = str(request.cookies.get(_PREFIX + "lang", ""))
    return chosen if chosen in languages() else choose_language(request.headers.get("accept-language"))
