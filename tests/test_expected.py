"""Rates against what is expected: OK, okish and FAIL, and a damaged file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ir_measures")

from eval import answers
from eval.expected import PATH, Compared, Expected, compare, read_expected
from eval.metrics import Rate
from index.errors import ContractError

ROW = """
- {system: Tablelaw, part: all, measure: MRR, aim: 0.8, accepted: 0.7}
- {system: Tablelaw, part: all, measure: premature rulings, aim: 0.05, accepted: 0.1, is_low: true}
"""


def expected(**changes: Any) -> Expected:
    parts: dict[str, Any] = {"system": "Tablelaw", "part": "all", "measure": "MRR", "aim": 0.8, "accepted": 0.7}
    return Expected(**{**parts, **changes})


def rate(value: float, total: int = 10) -> Rate:
    return Rate(value * total, total, 0.0, 1.0)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "aims.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(1.0, "OK"), (0.8, "OK"), (0.799, "okish"), (0.7, "okish"), (0.699, "FAIL"), (0.0, "FAIL")],
)
def test_a_rate_meets_the_aim_or_is_no_worse_than_accepted_or_fails(value: float, verdict: str) -> None:
    assert expected().judge(value) == verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.0, "OK"), (0.05, "OK"), (0.051, "okish"), (0.1, "okish"), (0.101, "FAIL"), (1.0, "FAIL")],
)
def test_where_lower_is_better_the_same_the_other_way_round(value: float, verdict: str) -> None:
    assert expected(aim=0.05, accepted=0.1, is_low=True).judge(value) == verdict


def test_the_rate_of_the_same_system_part_and_measure_is_judged() -> None:
    aims = [expected(), expected(measure="recall@5"), expected(part="topic call"), expected(system="BM25 alone")]
    rates = {
        ("Tablelaw", "all", "MRR"): rate(0.9),
        ("Tablelaw", "all", "recall@5"): rate(0.75),
        ("Tablelaw", "topic call", "MRR"): rate(0.1),
        ("BM25 alone", "all", "nDCG@10"): rate(1.0),
    }
    assert compare(rates, aims) == (
        Compared(aims[0], rate(0.9), "OK"),
        Compared(aims[1], rate(0.75), "okish"),
        Compared(aims[2], rate(0.1), "FAIL"),
    )


def test_a_rate_over_no_questions_is_not_judged() -> None:
    assert compare({("Tablelaw", "all", "MRR"): Rate(0.0, 0, 0.0, 0.0)}, [expected()]) == ()
    assert compare({("Tablelaw", "all", "MRR"): rate(0.0)}, [expected()])[0].verdict == "FAIL"


def test_nothing_is_expected_where_an_empty_list_is_given() -> None:
    assert compare({("Tablelaw", "all", "MRR"): rate(0.0)}, []) == ()


def test_expectations_are_read_in_their_order(tmp_path: Path) -> None:
    first, second = read_expected(write(tmp_path, ROW))
    assert first == expected()
    assert second == expected(measure="premature rulings", aim=0.05, accepted=0.1, is_low=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "words",
        "aim: 0.8",
        "- [1, 2",
        "- {system: Tablelaw, part: all, measure: MRR, aim: 0.8}",
        "- {system: Tablelaw, part: all, measure: MRR, aim: high, accepted: 0.7}",
        "- {system: Tablelaw, part: all, measure: MRR, aim: 0.8, accepted: 0.7, colour: red}",
    ],
)
def test_a_damaged_file_is_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(ContractError, match=r"^aims\.yaml is damaged \(.+\); restore the file\.$"):
        read_expected(write(tmp_path, text))


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"^none\.yaml is damaged \(.*No such file.*\); restore the file\.$"):
        read_expected(tmp_path / "none.yaml")


def test_a_file_of_other_bytes_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "aims.yaml"
    path.write_bytes(b"- {system: \xff\xfe}")
    with pytest.raises(ContractError, match="is damaged"):
        read_expected(path)


@pytest.mark.skipif(not PATH.exists(), reason="eval/expected.yaml is written with the first accepted figures")
def test_each_bundled_expectation_is_of_a_measure_that_there_is_and_has_its_aim_on_the_better_side() -> None:
    told_otherwise = {"same first law", "same laws cited"}
    known = {*answers.measures(()), *told_otherwise}
    bundled = read_expected()
    assert bundled
    for one in bundled:
        is_search = re.fullmatch(r"(clause |law )recall@(1|3|5|10)|sets@5|all-hit@5|MRR|nDCG@10", one.measure)
        assert is_search or one.measure in known, one.measure
        assert one.judge(one.aim) == "OK"
        assert one.aim <= one.accepted if one.is_low else one.aim >= one.accepted, one.measure
    keys = [(one.system, one.part, one.measure) for one in bundled]
    assert len(set(keys)) == len(keys)
