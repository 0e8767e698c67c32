"""Whether the records that a stuck group reads next decode: if one does not, that may be why the group is stuck."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from kcli.errors import KcliError
from kcli.lag.status import STUCK
from kcli.model import TopicPartition
from kcli.tui.tail import Tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.client import Client
    from kcli.lag.partition_lag import Standing
    from kcli.tui.session import Session
    from kcli.tui.tail import Seen

    Place = tuple[TopicPartition, int]
    """A partition, and the offset that a group reads from there on."""

MOST = 8  # partitions of which the records are read
PATIENCE = 5.0  # seconds for a record: from the committed offset on there may be markers only


class NextRecords:
    """`sentences` are about those that do not decode, by partition and committed offset, with the reason in a second
    line."""

    def __init__(self, session: Session) -> None:
        self.sentences: dict[Place, str] = {}
        self._session = session
        self._asked: set[Place] = set()
        self._learning = False

    async def learn(self, partitions: Sequence[Standing]) -> bool:
        """Read and decode the next record of each stuck partition, once for each committed offset. Whether there are
        other sentences now; what cannot be read has none, and one question is asked at a time."""
        if self._learning or not (self._session.live and self._session.has_registry):
            return False
        self._learning = True
        try:
            return await self._learn(partitions)
        finally:
            self._learning = False

    async def _learn(self, partitions: Sequence[Standing]) -> bool:
        stuck = [(place, offset) for part in partitions if part.status == STUCK for place, offset in _next(part)][:MOST]
        before = dict(self.sentences)
        self.sentences = {place: text for place, text in self.sentences.items() if place in stuck}
        self._asked &= set(stuck)
        for place in stuck:
            if place not in self._asked:
                sentence = await self._sentence(*place)
                self._asked.add(place)
                if sentence:
                    self.sentences[place] = sentence
        return self.sentences != before

    async def _sentence(self, at: TopicPartition, offset: int) -> str:
        from kcli.tui.text.by_registry import ask

        try:
            record = await self._session.ask(partial(_first, at, offset, self._session.isolation))
            if record is None:
                return ""
            both = await self._session.ask_registry(partial(ask, record))
        except KcliError:
            return ""  # the page has a toast of its own for a cluster that does not answer
        for kind, found in (("value", both.value), ("key", both.key)):
            if found.reason:
                return f"{at.topic}[{at.partition}] at {record.offset}: its {kind} does not decode\n{found.reason}"
        return ""


def _next(part: Standing) -> list[Place]:
    sample = part.lag.sample
    at = TopicPartition(sample.topic, sample.partition)
    return [] if sample.committed is None else [(at, sample.committed)]


async def _first(at: TopicPartition, offset: int, isolation: str, client: Client) -> Seen | None:
    """The first record from an offset on, None where none comes."""
    tail = Tail([at.topic], starts={at: offset}, keep=1, first=True, isolation=isolation)
    try:
        async with asyncio.timeout(PATIENCE):
            await tail.follow(client)
    except TimeoutError:
        return None
    return tail.since(0)[0]
