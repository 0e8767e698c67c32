"""What a consumer has taken, what of it is done, and what may be committed, without a broker."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kcli.consumer.group.group_bridge import Link
from kcli.model import OffsetAndMetadata, TopicPartition

AT = TopicPartition("t", 0)


def made(position: int) -> tuple[Link, Any]:
    """A link and the cursor of its only partition."""
    cursor = SimpleNamespace(position=position, epoch=-1, pending_revoke=False)
    return Link(SimpleNamespace(cursors={AT: cursor})), cursor  # type: ignore[arg-type]


def piece(start: int, stop: int) -> Any:
    return SimpleNamespace(at=AT, start=start, start_epoch=-1, following=OffsetAndMetadata(stop))


def offset(link: Link) -> int | None:
    """What may be committed."""
    place = link.to_commit(None).get(AT)
    return None if place is None else place.offset


def test_what_was_taken_is_done_when_more_is_asked_for() -> None:
    link, _ = made(0)
    link.take([piece(0, 10)])
    assert offset(link) is None
    link.handed_back()
    assert offset(link) == 10


def test_after_a_seek_to_a_place_that_is_looked_up_nothing_is_committed_until_it_is_known() -> None:
    link, cursor = made(10)
    link.note(AT, OffsetAndMetadata(10))
    link.sought(AT, None)
    cursor.position = -1
    assert offset(link) is None, "10 is after the place that was sought"
    cursor.position = 3
    assert offset(link) == 3


def test_a_sought_place_is_where_the_next_piece_begins() -> None:
    link, cursor = made(-1)
    link.sought(AT, None)
    link.begun([piece(3, 9)])
    cursor.position = 9
    assert offset(link) == 3, "what was handed out is not done"


def test_of_a_partition_that_is_gone_no_sought_place_is_committed() -> None:
    link, _ = made(9)
    link.sought(AT, None)
    link.forget({AT})
    assert offset(link) is None


@pytest.mark.parametrize(("committed", "out"), [(10, False), (11, False), (9, True)])
def test_a_commit_by_hand_covers_what_was_taken_before_it(committed: int, out: bool) -> None:
    link, _ = made(10)
    link.take([piece(0, 10)])
    link.committed({AT: OffsetAndMetadata(committed)})
    assert (AT in link.out, offset(link)) == (out, committed)


async def test_a_revocation_waits_for_the_message_in_hand() -> None:
    link, _ = made(10)
    stream = SimpleNamespace(in_hand=AT, stop=lambda _: None, note_progress=lambda: (0, 0))
    link.stream = stream
    settling = asyncio.create_task(link.settle({AT}))
    await asyncio.sleep(0)
    assert not settling.done()
    stream.in_hand = None
    link.returned.set()
    await asyncio.wait_for(settling, 5)


def test_by_hand_nothing_is_committed_that_workers_have_not_done() -> None:
    link, _ = made(10)
    link.by_hand = True
    link.take([piece(0, 10)])
    link.handed_back()
    assert offset(link) is None


def test_a_seek_moves_what_is_committed_although_records_are_out() -> None:
    link, _ = made(10)
    link.take([piece(0, 10)])
    link.sought(AT, OffsetAndMetadata(7))
    link.handed_back()
    assert offset(link) == 7


def test_each_message_of_a_stream_is_a_sign_of_life() -> None:
    link, _ = made(0)
    assert not link.alive()
    looks = iter([(1, 1), (1, 1), (1, 2), (2, -1)])
    link.stream = SimpleNamespace(note_progress=lambda: next(looks))
    assert [link.alive() for _ in range(4)] == [True, False, True, True]
