from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.readers.encoding import SINGLE_BYTE, clean_text, decode, decode_as, is_binary
from tests.conftest import SHARED, needs_shared

RUSSIAN = (
    "Правило 7. Камешки считает судья.",
    "Закон 3. Ход не в очередь.\nA. Игрок, начавший раньше времени, кладёт камешек на стол.",
    "ПРАВИЛО 12. ОБЪЯВЛЕНИЕ ХОДА И ЕГО ОТМЕНА",
    "§ 9. Объём кувшина",
    "«Кувшин» — это сосуд; см. правило 4.",
    "Правило 1",
)
WESTERN = (
    "Law 3. “Out of turn” – the pebble stays; it’s a café rule.",
    "Law 7 — Control of the jar",
    "Law 12. Don’t touch a pebble that lies face down…",
    "§ 12. Don’t",
    "Règle 4. Le joueur reçoit une pierre à chaque tour, même s’il a déjà joué.",
    "Regel 5. Der Spieler überschreitet die Größe; Krüge dürfen stehen.",
    "Co\u00adoperate: a soft hyphen is the only letter that is not ASCII.",
)
CYRILLIC = [name for name in SINGLE_BYTE if name != "windows-1252"]
UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]


@pytest.mark.parametrize("encoding", [*CYRILLIC, *UNICODE])
@pytest.mark.parametrize("text", RUSSIAN)
def test_a_short_russian_text_comes_out_right_in_every_encoding(text: str, encoding: str) -> None:
    writable = text.encode(encoding, "ignore").decode(encoding)  # some lack a dash or a quotation mark
    assert decode(writable.encode(encoding))[0].removeprefix("\ufeff") == writable


@pytest.mark.parametrize("encoding", ["windows-1252", *UNICODE])
@pytest.mark.parametrize("text", WESTERN)
def test_a_short_western_text_comes_out_right_in_every_encoding(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding))[0].removeprefix("\ufeff") == text


def test_plain_ascii_is_utf8() -> None:
    assert decode(b"Law 1. Pebbles") == ("Law 1. Pebbles", "utf-8")


def test_one_letter_that_is_not_ascii_far_down_decides() -> None:
    text = "Law 1. Plain words only.\n" * 20_000 + "It’s at the end."
    assert decode(text.encode("windows-1252")) == (text, "windows-1252")


@given(st.text())
def test_any_text_in_utf8_comes_back(text: str) -> None:
    assert decode(codecs.BOM_UTF8 + text.encode("utf-8")) == (text, "utf-8")


@given(st.binary())
def test_no_bytes_make_decoding_fail(data: bytes) -> None:
    text, name = decode(data)
    assert isinstance(text, str)
    assert codecs.lookup(name)


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_no_text(seed: int) -> None:
    assert is_binary(decode(random.Random(seed).randbytes(2000))[0])


def test_zero_bytes_are_no_text() -> None:
    assert is_binary(decode(b"\0" * 1000)[0])


@pytest.mark.parametrize("text", [*RUSSIAN, *WESTERN])
def test_text_is_not_binary(text: str) -> None:
    assert not is_binary(text)


@given(st.text())
def test_clean_text_has_no_control_characters(text: str) -> None:
    cleaned = clean_text(text)
    assert not [char for char in cleaned if (ord(char) < 32 and char not in "\n\t\f") or 0x7F <= ord(char) < 0xA0]
    assert clean_text(cleaned) == cleaned


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("Law\x1b[31m 1", "Law[31m 1"),
        ("Law\u202e 1", "Law 1"),
        ("a\r\nb\rc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("Law\u00a01\u2009a", "Law 1 a"),
        ("\ufeffLaw", "Law"),
        ("co\u00adop ® |", "co\u00adop ® |"),
    ],
)
def test_what_is_no_text_is_taken_out(dirty: str, clean: str) -> None:
    assert clean_text(dirty) == clean


@pytest.mark.parametrize("declared", ["klingon", "ascii", "utf-8", "base64"])
def test_a_declared_encoding_that_is_wrong_is_not_believed(declared: str) -> None:
    assert decode_as("Правило".encode("koi8-r"), declared) is None


def test_a_declared_encoding_that_fits_is_believed() -> None:
    assert decode_as("Правило".encode("koi8-r"), "KOI8-R") == ("Правило", "koi8-r")


@needs_shared
def test_the_official_text_is_in_windows_1252() -> None:
    assert decode((SHARED / "laws-2017" / "official-raw.txt").read_bytes())[1] == "windows-1252"


@needs_shared
@pytest.mark.parametrize("encoding", CYRILLIC)
@pytest.mark.parametrize("name", ["laws-1987-ru-a.txt", "laws-1987-ru-b.txt", "commentary-dc4-ru.txt"])
def test_a_real_russian_text_is_found_in_every_encoding(name: str, encoding: str) -> None:
    data = (SHARED / "seeds" / name).read_text(encoding="utf-8").encode(encoding, "replace")
    assert decode(data)[1] == encoding
