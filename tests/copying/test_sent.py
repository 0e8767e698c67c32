"""Offsets that a redrive sent: runs, and their text in a commit's metadata."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kcli.copying.sent import LIMIT, Sent, read_sent
from kcli.model import OffsetAndMetadata


def read(text: str, offset: int = 10**12) -> Sent:
    return read_sent(OffsetAndMetadata(offset, metadata=text))


def test_the_text_is_read_back_as_it_was_written() -> None:
    for seed in range(200):
        chosen = random.Random(seed)
        expected: set[int] = set()
        sent = Sent()
        for _ in range(chosen.randrange(60)):
            start = chosen.randrange(400)
            stop = start + chosen.randrange(1, 9)
            sent.add(start, stop)
            expected.update(range(start, stop))
        again = read(sent.text())
        assert {offset for offset in range(420) if offset in sent} == expected
        assert {offset for offset in range(420) if offset in again} == expected
        runs = list(again)
        assert all(stop < start for (_, stop), (start, _) in pairwise(runs))
        assert again.complete_from == 0


def test_runs_are_written_as_gaps_and_lengths() -> None:
    sent = Sent()
    for start, stop in ((120, 130), (135, 136), (167, 169)):
        sent.add(start, stop)
    assert sent.text() == "redriven 0:120+10,5,31+2"
    assert Sent().text() == "redriven 0:"


def test_what_does_not_fit_is_unknown_and_never_taken_for_sent_or_not() -> None:
    sent = Sent()
    for offset in range(0, 40_000, 4):
        sent.add(offset, offset + 1)
    text = sent.text()
    assert LIMIT - 10 < len(text) <= 4096
    again = read(text)
    assert 0 < again.complete_from < 40_000
    assert all((offset in again) == (offset % 4 == 0) for offset in range(again.complete_from, 40_000))
    sent.add(50_000, 50_001)  # the run goes on with what is left
    longer = read(sent.text())
    assert longer.complete_from >= again.complete_from
    assert 50_000 in longer
    sent.add(5, 9)  # as after --restart: below what is known
    last = read(sent.text())
    assert last.complete_from >= again.complete_from
    assert 50_000 in last
    assert 5 not in last


@pytest.mark.parametrize("text", ["", "finished", "redriven", "redriven 0:1,", "redriven x:1", "redriven 0:1++2"])
def test_of_other_metadata_all_before_the_offset_is_unknown(text: str) -> None:
    sent = read(text, 70)
    assert (sent.complete_from, list(sent)) == (70, [])


def test_what_several_groups_sent_is_merged() -> None:
    one, other = read("redriven 0:1+3,6"), read("redriven 5:0+2,100")
    one.merge(other)
    assert (list(one), one.complete_from) == ([(1, 4), (5, 7), (10, 11), (107, 108)], 5)
