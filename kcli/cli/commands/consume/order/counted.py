"""`consume --per-partition N`: N records of each partition, then it is read no further."""

from __future__ import annotations

from kcli.cli.commands.consume.reading import Reading
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.plan import Plan
    from kcli.cli.commands.consume.sink import Sink
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.poll import Fetched


class CountedReading(Reading):
    """A run that stops once each partition has given `most` records, or has come to its end."""

    def __init__(self, plan: Plan, consumer: Consumer, sink: Sink, most: int) -> None:
        super().__init__(plan, consumer, sink)
        self._most = most
        self._given: dict[TopicPartition, int] = {}

    async def _print(self, fetched: Fetched) -> None:
        at = TopicPartition(fetched.topic, fetched.partition)
        rest = self._most - self._given.get(at, 0)
        if rest <= 0:
            return
        total, before = self.left, self.written
        self.left = rest if total < 0 else min(rest, total)
        try:
            await super()._print(fetched)
        finally:
            written = self.written - before
            self._given[at] = self._given.get(at, 0) + written
            self.left = total if total < 0 else total - written
        if self._given[at] >= self._most:
            self.consumer.pause(at)

    @property
    def finished(self) -> bool:
        assigned = self.consumer.assignment
        full = [at for at in assigned if self._given.get(at, 0) >= self._most]
        return super().finished or (len(full) == len(assigned) > 0)
