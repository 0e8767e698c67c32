"""Reading a range to its end: for results that are computed from records and do not follow the log."""

from __future__ import annotations

from kcli.errors import DeadlineExceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched

PATIENCE = 30.0
"""Seconds without a record or progress after which a range is given up, as a request is."""


async def to_the_end(consumer: Consumer) -> AsyncIterator[Fetched]:
    """What `poll` hands out until the consumer is finished or the caller has enough. Raises DeadlineExceeded where no
    position moves for PATIENCE seconds: a leader that is gone, or that refuses again and again, is not awaited."""
    before: list[int | None] = []
    while not consumer.finished:
        got = await consumer.poll(PATIENCE)
        for fetched in got:
            yield fetched
        here = [consumer.position(at) for at in sorted(consumer.assignment)]
        if not got and here == before:
            raise DeadlineExceeded(f"no record arrived for {PATIENCE:g} s", sent=True)
        before = here
