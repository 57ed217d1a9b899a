"""The page over fakes, for browser tests of the page itself: bundled books and procedures, no model; ready in seconds.

``python -m tests.browser.light PORT [--lan]``. Stories are read by a few plain words, so that the path a tap takes is the
real one.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import uvicorn
import yaml

from app import make_app
from index.embedder import Chances, Vectors
from index.errors import BackendError
from index.lessons import IRREGULARITY, NOT_STATED
from rag import calibration
from rag.desk import Desk
from rag.page.devices import DEVICES_FILE, Devices
from rag.page.lan import EVERYWHERE, Lan
from rag.procedure import read_procedures
from rag.prompt import Prompt
from tests.fakes import FakeEmbedder

CALIBRATION = {
    "embedder_sha256": FakeEmbedder.hash,
    "floor": 0.05,
    "reading": {"irregularity": 0.5, "fact": 0.75, "presume": 0.625},
}
LAN_PIN = "012345"
"""The PIN with ``--lan``, which only a test's own network namespace may use."""
SPOKEN_OF = {
    "insufficient": "insufficient-bid",
    "недостаточн": "insufficient-bid",
    "revoke": "revoke-established",
    "фальшренонс": "revoke-established",
}


class ReadingEmbedder(FakeEmbedder):
    """Hears the irregularity in one word of the story, and no facts."""

    def read(self, text: str) -> tuple[Vectors, Chances | None]:
        heard = next((name for word, name in SPOKEN_OF.items() if word in text.lower()), None)
        rest = dict.fromkeys((*read_procedures(), NOT_STATED), 0.001)
        chances = {IRREGULARITY: {**rest, heard if heard else NOT_STATED: 0.9}}
        return self.encode([text], "query"), chances


class GatedBackend:
    """Writes one sentence, and each further one when the test puts a file of its number into the folder.

    Only for a question that is asked "slowly"; any other fails, and is quoted.
    """

    name, is_bound, at_once = "gated", True, 4
    lines = 4

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stream(self, prompt: Prompt) -> Iterator[str]:
        if "slowly" not in prompt.question.rpartition("Question: ")[2]:
            raise BackendError("not asked slowly")
        for number, line in enumerate(prompt.lines[: self.lines]):
            while number and not (self._folder / str(number)).exists():
                time.sleep(0.05)
                yield ""
            yield f"{line}\n"


def main() -> None:
    """Serve until ended."""
    with tempfile.TemporaryDirectory() as folder:
        calibration.PATH = Path(folder) / "calibration.yaml"
        calibration.PATH.write_text(yaml.safe_dump(CALIBRATION), encoding="utf-8")
        gate = os.environ.get("TABLELAW_TEST_GATE")
        desk = Desk(ReadingEmbedder(), GatedBackend(Path(gate)) if gate else None)
        port, is_open = int(sys.argv[1]), "--lan" in sys.argv
        lan = Lan(port, Devices(Path(folder) / DEVICES_FILE, print), LAN_PIN) if is_open else None
        host = EVERYWHERE if is_open else "127.0.0.1"
        uvicorn.run(make_app(lambda: desk, lan=lan), host=host, port=port, log_level="warning", proxy_headers=False)


if __name__ == "__main__":
    main()
