"""The club's network: addresses, codes, certificates, and what ``tablelaw serve --lan`` does with them."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

import app
import cli
from index.errors import ServerError
from rag.desk import Desk
from rag.page import lan
from rag.page.certificate import read_certificate
from rag.page.devices import Devices
from rag.page.guard import Guard
from rag.page.installable import ICONS, SIZES, manifest
from rag.page.lan import EVERYWHERE, Lan, drawn, open_lan, private_addresses
from rag.strings import languages
from tests.fakes import FakeEmbedder
from tests.made import closed_port

FIB_TRIE = """Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.0.0.0/8 2 0 2
        |-- 10.1.2.3
           /32 host LOCAL
     |-- 127.0.0.1
        /32 host LOCAL
     |-- 172.17.0.1
        /32 host LOCAL
     |-- 192.168.1.0
        /24 link UNICAST
     |-- 192.168.1.255
        /32 link BROADCAST
     |-- 192.168.1.5
        /32 host LOCAL
     |-- 203.0.113.9
        /32 host LOCAL
Local:
     |-- 192.168.1.5
        /32 host LOCAL
"""
NAMES = ("tablelaw.club.example", "*.hall.example")


@pytest.fixture(autouse=True)
def fresh_addresses() -> Iterator[None]:
    private_addresses.cache_clear()
    yield
    private_addresses.cache_clear()


def make_certificate(folder: Path, days: int = 30, names: tuple[str, ...] = NAMES) -> tuple[Path, Path]:
    """A certificate signed by itself and its key, both new."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "club")])
    ends = datetime.now(timezone.utc) + timedelta(days=days)
    builder = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(ends - timedelta(days=60)).not_valid_after(ends)
    )  # fmt: skip
    if names:
        told = [*map(x509.DNSName, names), x509.IPAddress(ip_address("192.168.1.5"))]
        builder = builder.add_extension(x509.SubjectAlternativeName(told), critical=False)
    folder.mkdir(exist_ok=True)
    files = folder / "cert.pem", folder / "key.pem"
    form = serialization.PrivateFormat.PKCS8
    files[0].write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return files


def lan_of(tmp_path: Path, **changes: Any) -> Lan:
    return replace(
        Lan(7860, Devices(tmp_path / "devices.json", print), "012345", addresses=lambda: ("192.168.1.5",)), **changes
    )


# addresses


def test_the_private_addresses_of_linux_the_likeliest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fib_trie").write_text(FIB_TRIE)
    monkeypatch.setattr(lan, "_LINUX_ADDRESSES", tmp_path / "fib_trie")
    assert private_addresses() == ("192.168.1.5", "10.1.2.3", "172.17.0.1")


def test_elsewhere_the_machines_name_stands_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lan, "_LINUX_ADDRESSES", tmp_path / "missing")
    monkeypatch.setattr("socket.gethostbyname_ex", lambda _: ("mac", [], ["127.0.1.1", "10.0.0.7"]))
    assert private_addresses() == ("10.0.0.7",)


def test_a_machine_whose_name_leads_nowhere_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> None:
        raise OSError("no such host")

    monkeypatch.setattr(lan, "_LINUX_ADDRESSES", tmp_path / "missing")
    monkeypatch.setattr("socket.gethostbyname_ex", fail)
    assert private_addresses() == ()


def test_every_start_has_a_pin_of_its_own(home: Path) -> None:
    pins = {open_lan(7860, None, print).pin for _ in range(20)}
    assert len(pins) > 15
    assert {len(pin) for pin in pins} == {6}
    assert all(pin.isdecimal() for pin in pins)


def test_the_codes_hold_the_addresses(tmp_path: Path) -> None:
    opened = lan_of(tmp_path, addresses=lambda: ("192.168.1.5", "10.0.0.1"))
    assert opened.urls() == ("http://192.168.1.5:7860/", "http://10.0.0.1:7860/")
    assert [code.url for code in opened.codes()] == list(opened.urls())
    assert all(code.svg.startswith("<svg") for code in opened.codes())
    assert len({len(line) for line in drawn("http://192.168.1.5:7860/").splitlines()}) == 1, "every line as wide as the others"


# certificates


def test_the_names_of_a_certificate_are_ours_and_its_address_comes_first(tmp_path: Path) -> None:
    certificate = read_certificate(*make_certificate(tmp_path / "c"))
    opened = lan_of(tmp_path, certificate=certificate)
    assert certificate.names == (*NAMES, "192.168.1.5")
    assert opened.urls() == ("https://tablelaw.club.example:7860/", "https://192.168.1.5:7860/")
    site = "https://table1.hall.example:7860"
    client = TestClient(Guard(Starlette(), opened), base_url=site, client=("192.168.1.9", 5), follow_redirects=False)
    answer = client.post("/pin", data={"pin": "012345"}, headers={"accept": "text/html", "origin": site})
    assert answer.status_code == 303
    assert "; Secure" in answer.headers["set-cookie"]
    for host in ("hall.example", "a.b.hall.example", "club.example", "x.tablelaw.club.example"):
        assert client.get("/", headers={"host": host}).status_code == 400


def test_a_certificate_without_names_is_taken(tmp_path: Path) -> None:
    assert read_certificate(*make_certificate(tmp_path / "c", names=())).names == ()


def test_a_certificate_that_cannot_serve_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path / "a")
    _, other_key = make_certificate(tmp_path / "b")
    ended = make_certificate(tmp_path / "c", days=-1)
    broken = tmp_path / "broken.pem"
    broken.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    private = serialization.load_pem_private_key(key.read_bytes(), None)
    locked = tmp_path / "locked.pem"
    locked.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
        )
    )
    for files, words in (
        ((tmp_path / "none.pem", key), "none.pem cannot be read"),
        ((cert, tmp_path / "none.pem"), "none.pem cannot be read"),
        ((tmp_path, key), "cannot be read"),
        ((key, key), "is not a certificate"),
        ((broken, key), "is not a certificate"),
        ((cert, cert), "is not the key of"),
        ((cert, other_key), "is not the key of"),
        ((cert, locked), "locked by a passphrase"),
        (ended, "ended on"),
    ):
        with pytest.raises(ServerError, match=words) as fault:
            read_certificate(*files)
        assert "\n" not in str(fault.value)


# serve --lan


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the server was started with; it ends at once, and listens nowhere."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr("uvicorn.run", lambda served, **options: calls.append({"app": served, **options}))
    monkeypatch.setattr(app, "open_desk", lambda *_, **__: Desk(FakeEmbedder(), None))
    monkeypatch.setattr(app, "check_models", lambda _: None)
    monkeypatch.setattr(app, "_check_port", lambda port, host: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("rag.page.lan.private_addresses", lambda: ("192.168.1.5",))
    return calls


def test_serve_lan_opens_to_the_network_and_says_how_to_join(
    started: list[dict[str, Any]], small_book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["serve", "--lan", "--book", small_book, "--json"])
    assert stop.value.code == 0
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert (data["url"], data["urls"]) == ("http://127.0.0.1:7860/", ["http://192.168.1.5:7860/"])
    assert f"PIN: {data['pin'][:3]} {data['pin'][3:]} (asked once on each device)" in told.err
    assert "http://192.168.1.5:7860/" in told.err
    assert "http://127.0.0.1:7860/join" in told.err
    assert (started[0]["host"], started[0]["proxy_headers"]) == (EVERYWHERE, False)
    phone = TestClient(started[0]["app"], base_url="http://192.168.1.5:7860", client=("192.168.1.9", 5))
    assert phone.get("/health").status_code == 401
    token = phone.post("/pin", data={"pin": data["pin"]}).json()["token"]
    assert phone.get("/health", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_serve_takes_a_certificate(
    started: list[dict[str, Any]], small_book: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cert, key = make_certificate(tmp_path / "c")
    with pytest.raises(SystemExit):
        cli.main(["serve", "--lan", "--book", small_book, "--cert", str(cert), "--key", str(key)])
    assert "https://tablelaw.club.example:7860/" in capsys.readouterr().err
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(started[0]["ssl_certfile"], started[0]["ssl_keyfile"])


def test_without_lan_this_machine_alone_is_served(
    started: list[dict[str, Any]], small_book: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["serve", "--book", small_book, "--json"])
    assert started[0]["host"] == "127.0.0.1"
    assert list(json.loads(capsys.readouterr().out)) == ["url", "book"]
    phone = TestClient(started[0]["app"], base_url="http://192.168.1.5:7860", client=("192.168.1.9", 5))
    assert phone.get("/health").status_code == 400


def test_https_is_served_and_forwarded_headers_are_believed_by_nobody(tmp_path: Path) -> None:
    cert, key = make_certificate(tmp_path / "c", names=("localhost",))
    port = closed_port()
    opened = lan_of(tmp_path, port=port, certificate=read_certificate(cert, key))
    hello = Starlette(routes=[Route("/", lambda request: PlainTextResponse("in"), methods=["GET", "POST"])])
    options = {"ssl_certfile": cert, "ssl_keyfile": key, "proxy_headers": False, "log_level": "warning"}
    server = uvicorn.Server(uvicorn.Config(Guard(hello, opened), host="127.0.0.1", port=port, **options))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    trust = ssl.create_default_context(cafile=str(cert))
    trust.verify_flags &= ~ssl.VERIFY_X509_STRICT  # signed by itself, and that is enough here
    site = f"https://localhost:{port}"
    try:
        with httpx.Client(base_url=site, verify=trust, trust_env=False) as client:
            end = time.monotonic() + 60
            while not server.started:
                assert time.monotonic() < end
                time.sleep(0.05)
            assert client.get("/").text == "in"
            assert client.post("/", headers={"origin": site}).text == "in"
            assert client.post("/", headers={"origin": site.replace("https", "http")}).status_code == 403
            assert client.get("/", headers={"x-forwarded-for": "127.0.0.1"}).status_code == 401
            cookie = client.post("/pin", data={"pin": "012345"}, headers={"accept": "text/html"}).headers["set-cookie"]
            assert "; Secure" in cookie
    finally:
        server.should_exit = True
        thread.join(60)


# installable


@pytest.mark.parametrize("lang", languages())
def test_the_manifest_has_what_a_browser_needs_to_install(lang: str) -> None:
    told = manifest(lang)
    assert told["lang"] == lang
    assert {(icon["sizes"], icon["purpose"]) for icon in told["icons"]} >= {(f"{s}x{s}", "maskable") for s in SIZES}
    assert all((ICONS / Path(icon["src"]).name).is_file() for icon in told["icons"])


def test_every_icon_has_the_size_that_its_name_tells() -> None:
    for path in ICONS.glob("*.png"):
        side = int(path.stem.rpartition("-")[2]).to_bytes(4, "big")
        assert path.read_bytes()[16:24] == side + side
