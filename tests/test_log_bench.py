"""The pages of a long log: what `eval.log_bench` measures, on logs that are made in a second."""

from __future__ import annotations

from pathlib import Path

from eval.log_bench import PAGES, log_times, make_log
from rag.page.log_view import find, read_query


def test_the_pages_that_are_measured_hold_rulings(tmp_path: Path) -> None:
    log = make_log(tmp_path / "log.sqlite3", 500)
    assert {name: len(find(log, query)) > 0 for name, query in PAGES.items()} == dict.fromkeys(PAGES, True)
    assert len(find(log, read_query({"table": "7"}))) == 13
    assert len(find(log, read_query({"text": "revoke trick"}))) == 51


def test_each_page_is_measured_with_few_and_with_many_entries() -> None:
    times = log_times(10, 60)
    assert [one.name for one in times] == list(PAGES)
    assert all(one.few > 0 and one.many > 0 for one in times)
