"""Where files live: models and indexes in the user's cache folder, imported books and cases in the data folder."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

APP = "tablelaw"
HOME_VARIABLE = "TABLELAW_HOME"


def cache_dir() -> Path:
    """Folder for what can be made again (models, indexes); ``$TABLELAW_HOME/cache`` when that variable is set."""
    home = os.environ.get(HOME_VARIABLE)
    return Path(home) / "cache" if home else Path(platformdirs.user_cache_dir(APP, appauthor=False))


def data_dir() -> Path:
    """Folder for what cannot be made again (cases, imported books); ``$TABLELAW_HOME/data`` when that is set."""
    home = os.environ.get(HOME_VARIABLE)
    return Path(home) / "data" if home else Path(platformdirs.user_data_dir(APP, appauthor=False))


def models_dir() -> Path:
    """Folder of the fetched models; ``$TABLELAW_MODELS`` wins, so that several homes can share one copy."""
    shared = os.environ.get("TABLELAW_MODELS")
    return Path(shared) if shared else cache_dir() / "models"


def bundled_books_dir() -> Path:
    """Folder of the books that come with the program (read only)."""
    return Path(__file__).resolve().parent / "books"
