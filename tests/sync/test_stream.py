"""What a stream of messages says is done, without a broker: the message in hand, and the end of a piece."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

from kcli.consumer.messages import Stream
from kcli.model import OffsetAndMetadata, TopicPartition

AT = TopicPartition("t", 0)


class Opened:
    """The messages of a batch: `after` is one past the last that was taken, and more are left."""

    after = 6

    def left(self) -> bool:
        return self.after >= 0

    def drop(self) -> None:
        self.after = -1


def piece(*, batches: tuple[Any, ...] = (), stop: int = 10) -> Any:
    fetched = SimpleNamespace(batches=list(batches), error=None)
    made = SimpleNamespace(at=AT, start=0, start_epoch=-1, fetched=fetched, following=OffsetAndMetadata(stop))
    made.rest = lambda *_: made
    return made


def in_the_middle() -> tuple[Stream, list[int]]:
    """A stream of which the message 5 was taken last, and the offsets up to which messages are done."""
    done: list[int] = []
    link = SimpleNamespace(note=lambda _, place: done.append(place.offset))
    stream = Stream(link, lambda: None, lambda: None)  # type: ignore[arg-type]
    stream.messages = Opened()  # type: ignore[assignment]
    stream._pieces.append(piece())
    stream._batches = deque()
    stream._batch = SimpleNamespace(leader_epoch=0, stop=10, window=lambda *_: None)  # type: ignore[assignment]
    return stream, done


def test_the_message_in_hand_is_done_when_the_program_goes_on_after_a_revocation_began() -> None:
    stream, done = in_the_middle()
    stream.stop({AT})
    assert (stream.in_hand, done) == (AT, [5])
    stream.finish()
    assert (stream.in_hand, done) == (None, [5, 6])


def test_the_message_in_hand_of_a_partition_that_is_gone_is_not_ours_to_commit() -> None:
    stream, done = in_the_middle()
    stream.stop({AT})
    stream.stop({AT}, gone=True)
    assert stream.in_hand is None
    stream.finish()
    assert done == [5]


def test_a_seek_makes_the_message_in_hand_irrelevant() -> None:
    stream, done = in_the_middle()
    assert len(stream.release()) == 1
    stream.sought(AT)
    assert stream.in_hand is None
    stream.finish()
    assert done == [5]


def test_the_markers_at_the_end_of_a_piece_are_done_with_it() -> None:
    stream, done = in_the_middle()
    stream.finish()
    stream.release()
    stream._pieces.append(piece(stop=12))
    assert not stream.advance()
    assert done[-1] == 12


def test_only_a_commit_after_the_message_in_hand_says_that_it_is_done() -> None:
    stream, _ = in_the_middle()
    stream.confirmed(AT, 5)
    assert stream.in_hand == AT
    stream.confirmed(AT, 6)
    assert stream.in_hand is None


def test_a_revocation_that_waits_for_the_message_in_hand_is_woken() -> None:
    stream, _ = in_the_middle()
    woken: list[bool] = []
    stream._wake = lambda: woken.append(True)
    stream.stop({AT})
    assert woken == []
    stream.finish()
    assert woken == [True]
