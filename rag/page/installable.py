"""The page as an app on the home screen: manifest, icons, theme colour.

All of it stands behind the PIN like everything else. A browser fetches a manifest without cookies unless the link says
``crossorigin="use-credentials"``, so ours says so; icons are fetched with cookies anyway.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import FileResponse, JSONResponse

from rag.page.render import FOLDER
from rag.page.settings import language_of
from rag.strings import strings

ICONS = FOLDER / "icons"
MANIFEST_PATH = "/manifest.webmanifest"
COLOUR, PAPER = "#0b5c46", "#ffffff"
SIZES = (192, 512)
"""Sides of the icons in pixels, as browsers that install want them."""
_WEEK = 7 * 24 * 3600


def manifest(lang: str) -> dict[str, Any]:
    """The web app manifest."""
    text = strings(lang)
    images = [
        {"src": f"/icons/icon-{size}.png", "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
        for size in SIZES
        for purpose in ("any", "maskable")
    ]
    vector = {"src": "/icons/icon.svg", "sizes": "any", "type": "image/svg+xml", "purpose": "any"}
    return {
        "id": "/",
        "name": text["title"],
        "short_name": "Tablelaw",
        "description": text["app_description"],
        "lang": lang,
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": COLOUR,
        "background_color": PAPER,
        "icons": [vector, *images],
    }


@lru_cache(maxsize=1)
def head() -> str:
    """What the page's head needs for it."""
    links, names = ((FOLDER / f"installable.{kind}").read_text(encoding="utf-8") for kind in ("html", "js"))
    return f"{links}<script>{names}</script>"


def add_installable(app: FastAPI) -> None:
    """Add the manifest and the icons."""
    files = {path.name: path for path in ICONS.iterdir() if path.suffix in (".png", ".svg")}

    @app.get(MANIFEST_PATH, include_in_schema=False)
    def web_manifest(request: Request) -> Response:
        kind, depends = "application/manifest+json", {"Vary": "Accept-Language, Cookie"}
        return JSONResponse(manifest(language_of(request)), media_type=kind, headers=depends)

    @app.get("/icons/{name}", include_in_schema=False)
    def icon(name: str) -> Response:
        if name not in files:
            return JSONResponse({"error": f"There is no icon of that name; there are {', '.join(sorted(files))}."}, 404)
        return FileResponse(files[name], headers={"Cache-Control": f"private, max-age={_WEEK}"})
