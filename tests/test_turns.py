from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from rag import turns as turns_module
from rag.turns import Turns

SECONDS = 30.0
"""Longest that a test waits for what must come."""


@pytest.fixture(autouse=True)
def _looks_up_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "NOTICE_SECONDS", 0.02)


class Person:
    """Stands in line in a thread of their own, keeps the places told, and goes when ``leaves`` is set, at their turn or not."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.places: list[int] = []
        self.served, self.leaves = threading.Event(), threading.Event()
        self.told = threading.Condition()
        self.thread = threading.Thread(target=self.stand, daemon=True)

    def stand(self) -> None:
        with self.turns.wait() as places:
            for before in places:
                with self.told:
                    self.places.append(before)
                    self.told.notify_all()
                if self.leaves.is_set():
                    return
            self.served.set()
            assert self.leaves.wait(SECONDS)

    def wait_for_place(self, before: int) -> None:
        with self.told:
            assert self.told.wait_for(lambda: self.places[-1:] == [before], SECONDS), self.places

    def go(self) -> None:
        self.leaves.set()
        self.thread.join(SECONDS)
        assert not self.thread.is_alive()


def line(turns: Turns, count: int) -> list[Person]:
    """People who came one after the other: each stands in line before the next comes."""
    people = []
    for number in range(count):
        person = Person(turns)
        person.thread.start()
        wait_until(lambda number=number: len(turns._line) == number + 1)
        people.append(person)
    return people


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.002)


def served(people: list[Person]) -> list[bool]:
    return [person.served.is_set() for person in people]


def test_who_is_alone_does_not_wait() -> None:
    turns = Turns()
    for _ in range(2):
        with turns.wait() as places:
            assert list(places) == []


def test_first_come_first_served_and_each_is_told_how_many_are_before() -> None:
    people = line(Turns(), 4)
    for number, person in enumerate(people):
        assert person.served.wait(SECONDS)
        for place, other in enumerate(people[number + 1 :], start=1):
            other.wait_for_place(place)
        assert served(people) == [True] * (number + 1) + [False] * (3 - number)
        person.go()
    assert [list(dict.fromkeys(person.places)) for person in people] == [[], [1], [2, 1], [3, 2, 1]]


def test_the_place_is_told_again_while_nothing_moves() -> None:
    first, second = line(Turns(), 2)
    wait_until(lambda: len(second.places) >= 3)
    assert set(second.places) == {1}
    for person in (first, second):
        person.go()


def test_a_model_that_writes_two_answers_at_once_serves_two() -> None:
    people = line(Turns(at_once=2), 4)
    assert people[1].served.wait(SECONDS)
    people[2].wait_for_place(1)
    people[3].wait_for_place(2)
    assert served(people) == [True, True, False, False]
    people[1].go()
    assert people[2].served.wait(SECONDS)
    people[3].wait_for_place(1)
    assert served(people) == [True, True, True, False]
    for person in people:
        person.go()


def test_when_one_leaves_early_the_others_move_up() -> None:
    people = line(Turns(), 4)
    people[3].wait_for_place(3)
    people[1].go()
    people[3].wait_for_place(2)
    people[2].wait_for_place(1)
    assert served(people) == [True, False, False, False]
    people[0].go()
    assert people[2].served.wait(SECONDS)
    assert not people[1].served.is_set()
    for person in people[2:]:
        person.go()


def test_who_stops_asking_before_the_turn_gives_up_the_place() -> None:
    """As when the generator of an answer is closed while it waits."""
    turns = Turns()
    with turns.wait() as first:
        assert list(first) == []
        with turns.wait() as second:
            assert next(second) == 1
        with turns.wait() as third:
            assert next(third) == 1
    with turns.wait() as fourth:
        assert list(fourth) == []


def test_an_error_at_ones_turn_lets_the_next_in() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.wait():
        raise ZeroDivisionError
    with turns.wait() as places:
        assert list(places) == []


def test_the_next_is_let_in_at_once_and_not_at_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "NOTICE_SECONDS", SECONDS)
    first, second = line(Turns(), 2)
    second.wait_for_place(1)
    first.leaves.set()
    assert second.served.wait(SECONDS / 2)
    second.go()


@pytest.mark.parametrize("at_once", [1, 3])
def test_of_many_threads_no_more_than_that_many_are_served_at_once_and_all_in_the_end(at_once: int) -> None:
    turns, lock = Turns(at_once), threading.Lock()
    now, most, done = 0, 0, 0

    def ask() -> None:
        nonlocal now, most, done
        for _ in range(5):
            with turns.wait() as places:
                for _before in places:
                    pass
                with lock:
                    now += 1
                    most = max(most, now)
                time.sleep(0.001)
                with lock:
                    now -= 1
                    done += 1

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert (most, done) == (at_once, 100)
    assert turns._line == []
