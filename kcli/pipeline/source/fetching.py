"""A task's work: the batches of a range, exactly up to its end, as columns.

The end is reached by position: markers, aborted and compacted records are passed like any other offset, and record
counts decide nothing. Only a start below the log's start is data loss; a log that ends before the range does was
truncated or recreated, which is an error regardless of failOnDataLoss.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kcli.consumer.consumer import Consumer
from kcli.consumer.fetch.positions import OffsetOutOfRange
from kcli.consumer.poll import Fetched
from kcli.errors import DeadlineExceeded, KcliError, TopicRecreated
from kcli.pipeline.connection import Sealed
from kcli.pipeline.kept_client import Background, client_of
from kcli.proto.core import Gather
from kcli.proto.spans import Gathered

if TYPE_CHECKING:
    from kcli.pipeline.source.ranges import Range

Noted = Callable[[int, int, int], None]

BYTES, ROWS = 2 * 1024 * 1024, 20_000
"""Amounts to pass to Spark at once: 2000 to 20 000 rows and 0.2 to 8 MB are fastest."""


QUIET = 5.0
"""Seconds after which a task without data checks whether the log still has what it waits for."""


class DataLoss(KcliError):
    """Records of the range are no longer in the log."""


class LogChanged(KcliError):
    """The log ends before the range does: the topic was recreated, or an unclean election truncated it."""


def gathered(
    wanted: Range,
    sealed: Sealed,
    columns: frozenset[str],
    *,
    fail_on_data_loss: bool,
    poll_timeout: float,
    noted: Noted,
) -> Iterator[Gathered]:
    """Yield the records of `wanted`. `noted(rows, bytes, next offset)` is called for each poll. Raises DataLoss,
    LogChanged, DeadlineExceeded if nothing arrives for `poll_timeout` seconds, and the client's errors."""
    into = Gather("key" in columns, "value" in columns, "headers" in columns)
    with client_of(sealed) as kafka:
        consumer = kafka.client.consumer(settings=sealed.consumer)
        try:
            position, known = wanted.start, False
            _begin(kafka, consumer, wanted, position)
            waited = 0.0
            while position < wanted.end:
                polled = kafka.run(consumer.poll(min(QUIET, poll_timeout)))
                waited = 0.0 if polled else waited + min(QUIET, poll_timeout)
                if not polled:
                    _quiet(kafka, wanted, position, waited, poll_timeout)
                for fetched in polled:
                    yield from _opened(fetched, into)
                    noted(*_told(fetched), fetched.next_offset)
                    position = max(position, fetched.next_offset)
                    if isinstance(fetched.error, TopicRecreated) and not known:
                        _begin(kafka, consumer, wanted, position)  # a kept client knew the topic of an earlier task
                    elif fetched.error is not None:
                        position = _after(fetched.error, wanted, position, fail_on_data_loss)
                        if position < wanted.end:
                            _begin(kafka, consumer, wanted, position)
                    known = True
            if into.rows:
                yield into.take()
        finally:
            kafka.run(consumer.close())


def _begin(kafka: Background, consumer: Consumer, wanted: Range, position: int) -> None:
    async def begin() -> None:
        consumer.assign({wanted.at: position})
        consumer.stop_at({wanted.at: wanted.end})

    kafka.run(begin())


def _opened(fetched: Fetched, into: Gather) -> Iterator[Gathered]:
    for batch in fetched.batches:
        batch.gather(into)
        if into.size >= BYTES or into.rows >= ROWS:
            yield into.take()


def _told(fetched: Fetched) -> tuple[int, int]:
    """Return rows and approximate bytes of a poll: a batch at an end of the range is not read completely."""
    shown = [(batch.visible, batch.size, max(batch.count, 1)) for batch in fetched.batches]
    return sum(rows for rows, _, _ in shown), sum(size * rows // count for rows, size, count in shown)


def _after(error: KcliError, wanted: Range, position: int, fail_on_data_loss: bool) -> int:
    """Return where to continue after an error of the partition, or raise it."""
    if not isinstance(error, OffsetOutOfRange):
        raise error
    if error.asked > error.end:
        raise _changed(wanted, error.end)
    gone = min(error.start, wanted.end)
    lost = f"{wanted.topic}[{wanted.partition}]: offsets {position} to {gone} no longer exist; the log starts"
    if fail_on_data_loss:
        raise DataLoss(f"{lost} at {error.start}; failOnDataLoss=false continues from there")
    print(f"kcli: {lost} at {error.start}; continuing there (failOnDataLoss=false)", file=sys.stderr)
    return max(position, min(error.start, wanted.end))


def _quiet(kafka: Background, wanted: Range, position: int, waited: float, most: float) -> None:
    """Handle a period without data. Raises if none will come, or if it has lasted too long."""
    from kcli.asking.offsets import list_offsets
    from kcli.pipeline.offset_options import LATEST

    end = list_offsets(kafka.client.cluster, {wanted.at: LATEST}, patience=QUIET, wait_for_leaders=True)
    answer = kafka.run(end)[wanted.at]
    if not isinstance(answer, KcliError) and answer.offset < wanted.end:
        raise _changed(wanted, answer.offset)
    if waited >= most:
        if isinstance(answer, KcliError):
            raise answer
        raise DeadlineExceeded(
            f"{wanted.topic}[{wanted.partition}]: no records received from offset {position} for {most:g} s "
            "(kafkaConsumer.pollTimeoutMs)"
        )


def _changed(wanted: Range, end: int) -> LogChanged:
    return LogChanged(
        f"{wanted.topic}[{wanted.partition}] ends at {end}, but offsets up to {wanted.end} were requested: "
        "the topic was deleted and recreated, or lost its last records"
    )
