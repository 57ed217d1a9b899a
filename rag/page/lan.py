"""The page on the club's network: under which addresses and names, with which PIN, and the codes that lead there."""

from __future__ import annotations

import io
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import segno
from cachetools import TTLCache, cached

from index import paths
from rag.page.certificate import Certificate
from rag.page.devices import DEVICES_FILE, Devices
from rag.page.guesses import Guesses

LOOPBACK = "127.0.0.1"
LOOPBACK_HOSTS = (LOOPBACK, "localhost")
"""The names under which this machine serves itself."""
EVERYWHERE = "0.0.0.0"  # noqa: S104 - only with --lan, behind the PIN
PIN_DIGITS = 6
_ADDRESS_SECONDS = 30.0
"""The laptop may join another network while it serves."""
# Clubs' access points mostly give the first; the third is also what containers and virtual machines use among themselves.
_PRIVATE = tuple(
    map(ipaddress.ip_network, ("192.168.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "100.64.0.0/10", "169.254.0.0/16"))
)
_LINUX_ADDRESSES = Path("/proc/net/fib_trie")


@cached(TTLCache(1, _ADDRESS_SECONDS), lock=threading.Lock())
def private_addresses() -> tuple[str, ...]:
    """This machine's own addresses in private networks, the likeliest to be the club's first. Asks nobody."""
    found = {ipaddress.ip_address(text) for text in _own_addresses()}
    ordered = (address for network in _PRIVATE for address in sorted(found, key=int) if address in network)
    return tuple(map(str, ordered))


def _own_addresses() -> list[str]:
    try:
        lines = _LINUX_ADDRESSES.read_text(encoding="ascii").splitlines()
    except OSError:  # no Linux: its own name stands for all its addresses
        try:
            return socket.gethostbyname_ex(socket.gethostname())[2]
        except OSError:
            return []
    return [
        line.split()[-1]
        for line, below in pairwise(lines)
        if below.split()[0] == "/32" and below.split()[-2:] == ["host", "LOCAL"]
    ]


@dataclass(frozen=True)
class Code:
    """A way to the page from another device: the address and, as SVG, the QR code that holds it."""

    url: str
    svg: str


@dataclass(frozen=True)
class Lan:
    """What the guard needs to let in the devices of the club's network, and nobody else."""

    port: int
    devices: Devices
    pin: str = field(default_factory=lambda: f"{secrets.randbelow(10**PIN_DIGITS):0{PIN_DIGITS}}")
    certificate: Certificate | None = None
    addresses: Callable[[], tuple[str, ...]] = field(default_factory=lambda: private_addresses)
    guesses: Guesses = field(default_factory=Guesses)

    @property
    def scheme(self) -> str:
        """``https`` with a certificate, else ``http``."""
        return "https" if self.certificate else "http"

    @property
    def spoken_pin(self) -> str:
        """The PIN in two groups, as it is read out."""
        half = PIN_DIGITS // 2
        return f"{self.pin[:half]} {self.pin[half:]}"

    def hosts(self) -> tuple[str, ...]:
        """Every name and address under which this machine serves now."""
        own = socket.gethostname().lower().rstrip(".")
        first = own.partition(".")[0]
        named = self.certificate.names if self.certificate else ()
        return (*LOOPBACK_HOSTS, *self.addresses(), own, first, f"{first}.local", *named)

    def urls(self) -> tuple[str, ...]:
        """The page's addresses for other devices, the likeliest first: the certificate's names, then the private addresses."""
        named = [name for name in (self.certificate.names if self.certificate else ()) if "*" not in name and ":" not in name]
        return tuple(f"{self.scheme}://{host}:{self.port}/" for host in dict.fromkeys((*named, *self.addresses())))

    def codes(self) -> tuple[Code, ...]:
        """The addresses with their QR codes."""
        return tuple(Code(url, segno.make(url, micro=False).svg_inline(light="#ffffff", omitsize=True)) for url in self.urls())


def open_lan(port: int, certificate: Certificate | None, say: Callable[[str], None]) -> Lan:
    """A new PIN for this start; the devices known from before. Raises `ContractError` when their file is damaged."""
    return Lan(port, Devices(paths.data_dir() / DEVICES_FILE, say), certificate=certificate)


def drawn(url: str) -> str:
    """A QR code as lines of half blocks, light on dark: for a terminal."""
    out = io.StringIO()
    segno.make(url, micro=False).terminal(out, border=2, compact=True)
    return out.getvalue()
