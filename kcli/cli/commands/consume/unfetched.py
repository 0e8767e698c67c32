"""`consume -v`: partitions that are not fetched for a while, and why; and those that are not at the end."""

from __future__ import annotations

import asyncio

from kcli.cli.output.messages import complain
from kcli.consumer.fetch.states import ENDED, FETCHING, FULL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.consumer import Consumer
    from kcli.model import TopicPartition

LONG = 5.0
"""Seconds without a fetch before the message."""
LOOK = 1.0


class Unfetched:
    """`look` reports what is new and repeats itself until `close`."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._since: dict[TopicPartition, float] = {}
        self._told: set[TopicPartition] = set()
        self._timer: asyncio.TimerHandle | None = None

    def report(self) -> None:
        """Report partitions that have not been fetched for `LONG` seconds, and those that are fetched again."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        held = {at: why for at, why in self._held().items() if why}
        self._since = {at: self._since.get(at, now) for at in held}
        long = {at: why for at, why in held.items() if now - self._since[at] >= LONG}
        for why, names in _together({at: why for at, why in long.items() if at not in self._told}):
            complain(f"{names}: not fetched for {LONG:g} s: {why}")
        for _, names in _together(dict.fromkeys(self._told & self._consumer.assignment - held.keys(), "")):
            complain(f"{names}: fetched again")
        self._told = set(long)
        self._timer = loop.call_later(LOOK, self.report)

    def close(self) -> None:
        """Report what is not fetched now; what only waits for a poll is no news at the end."""
        if self._timer is not None:
            self._timer.cancel()
        for why, names in _together({at: why for at, why in self._held(at_end=True).items() if why}):
            complain(f"{names}: not fetched at the end: {why}")

    def _held(self, *, at_end: bool = False) -> dict[TopicPartition, str]:
        """Why each partition is not fetched; "" for one that is."""
        usual = (FETCHING, ENDED, FULL, "failed") if at_end else (FETCHING, ENDED)
        return {
            at: "" if fetch.state in usual else f"{fetch.state} ({fetch.reason})" if fetch.reason else fetch.state
            for at, fetch in self._consumer.fetch_states().items()
        }


def _together(held: dict[TopicPartition, str]) -> list[tuple[str, str]]:
    """(reason, partitions): a line for a reason, however many partitions have it."""
    by_reason: dict[str, list[TopicPartition]] = {}
    for at in sorted(held):
        by_reason.setdefault(held[at], []).append(at)
    return [(why, _names(ats)) for why, ats in by_reason.items()]


def _names(ats: list[TopicPartition]) -> str:
    first = ", ".join(f"{topic}[{partition}]" for topic, partition in ats[:3])
    return first if len(ats) <= 3 else f"{first} and {len(ats) - 3} more"
