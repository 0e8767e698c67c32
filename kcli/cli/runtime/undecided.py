"""Messages about open transactions that keep a reader of committed records from reading on."""

from __future__ import annotations

import asyncio

from kcli.cli.output.messages import complain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.consumer.consumer import Consumer
    from kcli.model import Cluster, TopicPartition

LONG = 5.0
"""Seconds without progress before the message. It doubles with each message: some producers commit once a minute."""
LOOK = 1.0
HINT = "--isolation read_uncommitted reads such records, too"


async def say_ends(cluster: Cluster, ends: Mapping[TopicPartition, tuple[int, int]]) -> None:
    """Report the partitions that are read up to their last stable offset only, and why."""
    from kcli.admin.transactions.undecided import undecided

    complain(f"{await undecided(cluster, ends, ended=True)}; {HINT}")


class Waiting:
    """While entered, report partitions where the consumer waits for an open transaction."""

    def __init__(self, cluster: Cluster, consumer: Consumer) -> None:
        self._cluster = cluster
        self._consumer = consumer
        self._reported: set[tuple[TopicPartition, int]] = set()
        self._long = LONG
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._watch(), name="report open transactions")

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _watch(self) -> None:
        from kcli.consumer.held_back import HeldBack

        held_back, loop = HeldBack(), asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK)
            ends = self._consumer.undecided()
            lasting = held_back.lasting(ends, loop.time(), self._long)
            self._reported &= {(at, stable) for at, (stable, _) in ends.items()}
            new = {at: end for at, end in lasting.items() if (at, end[0]) not in self._reported}
            if new:
                await self._say(new)

    async def _say(self, ends: dict[TopicPartition, tuple[int, int]]) -> None:
        from kcli.admin.transactions.undecided import undecided

        sentence = await undecided(self._cluster, ends)
        self._reported.update((at, stable) for at, (stable, _) in ends.items())
        if sentence is not None:
            complain(f"{sentence}; {HINT}")
            self._long *= 2
