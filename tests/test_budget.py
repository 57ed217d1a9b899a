from __future__ import annotations

import pytest

from rag.backends.base import MAX_LINES, MAX_SECONDS
from rag.backends.budget import PLANNED_SHARE, Speed, lines_within

PLANNED = PLANNED_SHARE * MAX_SECONDS
APART = [[1] + [9] * 19, [2] + [9] * 19, [3] + [9] * 19, [4] + [9] * 19]
"""Lines of 20 tokens that part at the first."""


@pytest.mark.parametrize(
    ("seconds_left", "count"),
    [(100.0, MAX_LINES), (6.1, 3), (5.9, 2), (4.1, 2), (3.9, 1), (2.1, 1), (1.9, 0), (0.0, 0), (-50.0, 0)],
)
def test_as_many_lines_as_there_is_time_for_behind_the_prompt(seconds_left: float, count: int) -> None:
    """A line takes two seconds: one token chosen at one a second, 19 read at 19 a second."""
    speed = Speed(reading=19.0, writing=1.0)
    assert lines_within(speed, round(19 * (PLANNED - seconds_left)), APART) == count


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([[1, 2, 3]], 1.0),
        ([[1, 2, 3], [1, 2, 4]], 3.0),
        ([[1, 2, 3], [1, 5, 5], [7, 7, 7]], 2.0),
        ([[1, 2], [1, 2, 3]], 3.0),
    ],
)
def test_a_line_is_chosen_until_no_other_begins_so_and_the_rest_is_read(lines: list[list[int]], seconds: float) -> None:
    reads_at_once = 1e9
    within, beyond = (Speed(reads_at_once, seconds / (PLANNED * share)) for share in (0.99, 1.01))
    assert lines_within(within, 0, lines) >= 1
    assert lines_within(beyond, 0, lines) == 0


def test_the_dearest_lines_are_counted() -> None:
    cheap_and_dear = [[1, 2], [3, *[9] * 100]]
    assert lines_within(Speed(reading=100.5 / PLANNED, writing=1e9), 0, cheap_and_dear) == 1
    assert lines_within(Speed(reading=90 / PLANNED, writing=1e9), 0, cheap_and_dear) == 0


def test_no_lines_take_no_time() -> None:
    assert lines_within(Speed(1.0, 1.0), 0, []) == 0
