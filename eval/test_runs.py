"""Every run on the test split is kept (``test-runs.tsv``): what was looked at often is no test any more."""

from __future__ import annotations

import csv
import subprocess
from datetime import datetime, timezone
from pathlib import Path

from eval.report import SHOWN, Report
from index.errors import ContractError

PATH = Path(__file__).resolve().parent / "test-runs.tsv"
COLUMNS = ("time", "commit", "system", "questions", "measure", "figure")


def keep_test_run(report: Report, path: Path = PATH) -> None:
    """Append the totals of a run, one row a measure. Raises `ContractError` when the file cannot be written."""
    now, commit = datetime.now(timezone.utc).isoformat(timespec="seconds"), _commit()
    shown = [name for names in SHOWN for name in names]
    try:
        is_new = not path.exists()
        with path.open("a", encoding="utf-8", newline="") as file:
            out = csv.writer(file, delimiter="\t", lineterminator="\n")
            if is_new:
                out.writerow(COLUMNS)
            for line in report.lines:
                for name in shown:
                    if name in line.rates:
                        out.writerow((now, commit, line.system, line.part, name, str(line.rates[name])))
    except OSError as error:
        raise ContractError(f"{path} cannot be written ({error.strerror}): a run on the test split must be kept.") from error


def _commit() -> str:
    """The commit that is measured, with ``+`` where files differ from it; "unknown" outside a repository."""
    git = ["git", "-C", str(PATH.parent)]
    try:
        commit = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("+" if changed else "")
