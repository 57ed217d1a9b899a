"""The page's rows of the benchmark, without a browser: what Chromium tells is added up, compared, or said to be missing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from eval import bench_page
from eval.bench_page import Pair, Visit, Weight, main, middle, missing, page_rows, rows
from eval.bench_row import Row

URL = "http://127.0.0.1:7860/"


def answer(weight: Weight, request: str, headers: int, url: str = URL, is_kept: bool = False) -> None:
    response = {"url": url, "encodedDataLength": headers, "fromDiskCache": is_kept}
    weight.on_response({"requestId": request, "response": response})


def end(weight: Weight, request: str, whole: int) -> None:
    weight.on_end({"requestId": request, "encodedDataLength": whole})


def test_each_value_has_two_rows_and_the_second_is_compared_with_the_first() -> None:
    made = list(rows(Pair(Visit(1536.4, 60, 800, 1250), Visit(153.6, 6, 400, 500))))
    assert made == [
        Row("page at 390x844, first visit: fetched", "1,536 KiB"),
        Row("page at 390x844, warm cache: fetched", "154 KiB", "0.10 of first visit"),
        Row("page at 390x844, first visit: requests", "60"),
        Row("page at 390x844, warm cache: requests", "6", "0.10 of first visit"),
        Row("page at 390x844, first visit: first contentful paint", "800 ms"),
        Row("page at 390x844, warm cache: first contentful paint", "400 ms", "0.50 of first visit"),
        Row("page at 390x844, first visit: question box can be typed in", "1,250 ms"),
        Row("page at 390x844, warm cache: question box can be typed in", "500 ms", "0.40 of first visit"),
    ]


def test_each_value_has_its_own_median() -> None:
    assert middle([Visit(1, 30, 5, 9), Visit(3, 10, 4, 8), Visit(2, 20, 6, 7)]) == Visit(2, 20, 5, 8)


def test_an_answer_weighs_its_headers_and_its_body_as_sent() -> None:
    weight = Weight()
    answer(weight, "1", 200)
    weight.on_data({"requestId": "1", "dataLength": 5000, "encodedDataLength": 700})  # compressed
    end(weight, "1", 1024)
    assert (weight.kib, weight.requests) == (1.0, 1)


def test_a_stream_without_an_end_weighs_what_came_of_it() -> None:
    weight = Weight()
    answer(weight, "1", 212)
    weight.on_data({"requestId": "1", "dataLength": 100, "encodedDataLength": 0})
    weight.on_data({"requestId": "1", "dataLength": 200, "encodedDataLength": 105})
    assert (weight.kib, weight.requests) == (0.5, 1)


def test_what_the_caches_gave_and_what_is_in_the_page_weighs_nothing() -> None:
    weight = Weight()
    answer(weight, "disk", 200, is_kept=True)
    weight.on_cached({"requestId": "memory"})
    answer(weight, "memory", 200)
    answer(weight, "inline", 0, url="data:image/png;base64,AAAA")
    for request in ("disk", "memory", "inline"):
        weight.on_data({"requestId": request, "dataLength": 5000, "encodedDataLength": 5000})
        end(weight, request, 5000)
    assert (weight.kib, weight.requests) == (0, 0)


def test_a_visit_is_over_only_after_a_quiet_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("eval.bench_page.time.monotonic", lambda: clock[-1])
    weight = Weight()
    answer(weight, "1", 200)
    for second, happens in ((101.9, weight.on_data), (103.8, weight.on_end)):
        clock.append(second)
        assert not weight.is_quiet
        happens({"requestId": "1", "dataLength": 300, "encodedDataLength": 300})
    clock.append(105.7)
    assert not weight.is_quiet
    clock.append(105.9)
    assert weight.is_quiet


@pytest.mark.parametrize("is_there", [True, False])
def test_without_chromium_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(bench_page, "CHROMIUM", str(tmp_path / "chromium"))
    monkeypatch.setattr(bench_page, "measure", lambda url: [Pair(Visit(2, 2, 2, 2), Visit(1, 1, 1, 1))])
    if is_there:
        (tmp_path / "chromium").touch()
    said: list[str] = []
    made = page_rows(URL, said.append)
    assert len(said) == 1
    assert (f"there is no {tmp_path / 'chromium'}" in said[0]) is not is_there
    assert len(made) == (8 if is_there else 0)


def test_without_playwright_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said: list[str] = []
    assert page_rows(URL, said.append) == []
    assert len(said) == 1
    assert "Playwright is not installed" in said[0]
    assert missing() in said[0]


@pytest.mark.parametrize("arguments", [[], ["http://example.org"], ["7860", "7861"]])
def test_alone_it_takes_a_port_of_this_machine_and_nothing_else(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["bench_page", *arguments])
    with pytest.raises(SystemExit, match="Give the port"):
        main()
