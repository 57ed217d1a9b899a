from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

from rag.backends import pulse
from rag.backends.pulse import with_pulse

SECONDS = 30.0


@pytest.fixture(autouse=True)
def _quick_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "PULSE_SECONDS", 0.02)


def test_the_pieces_come_in_their_order_and_then_it_ends() -> None:
    assert [piece for piece in with_pulse(f"{k} " for k in range(50)) if piece] == [f"{k} " for k in range(50)]


def test_silence_has_a_pulse_and_ends_with_the_next_piece() -> None:
    gate = threading.Event()

    def pieces() -> Generator[str, None, None]:
        yield "one"
        assert gate.wait(SECONDS)
        yield "two"

    stream = with_pulse(pieces())
    while next(stream) != "one":
        pass
    assert [next(stream) for _ in range(3)] == ["", "", ""]
    gate.set()
    assert [piece for piece in stream if piece] == ["two"]


def test_an_error_is_raised_behind_the_pieces_before_it() -> None:
    def pieces() -> Generator[str, None, None]:
        yield "one"
        raise ZeroDivisionError("by zero")

    stream = filter(None, with_pulse(pieces()))
    assert next(stream) == "one"
    with pytest.raises(ZeroDivisionError, match="by zero"):
        next(stream)


def test_what_nobody_takes_any_more_is_closed_where_it_is_read() -> None:
    gate, closed = threading.Event(), threading.Event()

    def pieces() -> Generator[str, None, None]:
        try:
            yield "one"
            assert gate.wait(SECONDS)
            yield "two"
            raise AssertionError("nobody wants a third")
        finally:
            closed.set()

    stream = with_pulse(pieces())
    assert next(filter(None, stream)) == "one"
    assert isinstance(stream, Generator)
    stream.close()
    assert not closed.is_set()
    gate.set()
    assert closed.wait(SECONDS)


def test_nothing_is_read_before_it_is_asked_for() -> None:
    read: list[int] = []
    with_pulse(str(read.append(k)) for k in range(3))
    assert read == []
