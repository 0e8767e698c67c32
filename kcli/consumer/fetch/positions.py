"""Look-ups for cursors: start positions, leaders, and whether a new leader still has the records already read.

A failed look-up is retried and never resets a position. A response older than a seek changes nothing.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_leader
from kcli.asking.offsets import EARLIEST, LATEST, list_offsets
from kcli.consumer.fetch.cursor import READY, RESOLVING, VALIDATING
from kcli.consumer.offsets import resolve
from kcli.errors import BrokerError, KcliError, cannot_connect
from kcli.grammar.bound import Bound
from kcli.proto.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.consumer.fetch.cursor import Cursor
    from kcli.consumer.fetch.engine import LookupEngine, Waiting
    from kcli.model import TopicPartition

LOG = Log("consumer.fetch")
ROUND = 5.0
"""Seconds after which a look-up with only temporary errors starts over with the current leaders."""


class OffsetOutOfRange(KcliError):
    """The position is outside the log, and the reset policy is none."""

    def __init__(self, at: TopicPartition, asked: int, start: int, end: int) -> None:
        super().__init__(
            f"{at.topic} partition {at.partition}: offset {asked} is out of range, the log contains {start} to {end}; "
            "seek, or set auto.offset.reset to earliest or latest"
        )
        self.at, self.asked, self.start, self.end = at, asked, start, end


class LogTruncated(KcliError):
    """Records already read are no longer in the log, because of an unclean leader election."""

    def __init__(self, at: TopicPartition, position: int, end: int) -> None:
        super().__init__(
            f"{at.topic} partition {at.partition}: the log was truncated to offset {end}, position {position} is gone"
        )
        self.at, self.position, self.end = at, position, end


class Positions:
    """A task that starts look-ups, each in a separate task so that none waits for another."""

    def __init__(self, reader: LookupEngine) -> None:
        self.reader = reader
        self.wake = asyncio.Event()

    async def run(self) -> None:
        """Run forever: clear the event, read the whole state, start what is due, wait."""
        loop = asyncio.get_running_loop()
        while True:
            self.wake.clear()
            again = self._start_due(loop.time())
            try:
                async with asyncio.timeout(None if again is None else max(again - loop.time(), 0)):
                    await self.wake.wait()
            except TimeoutError:
                continue

    def _start_due(self, now: float) -> float | None:
        """Start the due look-ups; return when the next one is due."""
        again: float | None = None
        due: dict[Callable[[list[Cursor]], Awaitable[None]], list[Cursor]] = {}
        spread = False
        for cursor in self.reader.cursors.values():
            node = self.reader.node_of(cursor, now)  # before the state is read, because it notices new leader epochs
            work = self._missing(cursor, homeless=node < 0)
            fetcher = self.reader.fetchers.get(node)
            if work is None and fetcher is None:
                spread = spread or cursor.state == READY
            elif cursor.busy or (work is None and not self._sleeps(fetcher, cursor)):
                continue
            elif cursor.retry_at > now:
                again = cursor.retry_at if again is None else min(again, cursor.retry_at)
            elif work is not None:
                due.setdefault(work, []).append(cursor)
            elif fetcher is not None:
                fetcher.wake.set()
        for work, cursors in due.items():
            for cursor in cursors:
                cursor.busy = True
            self.reader.run(self._look_up(work, cursors))
        if spread:
            self.reader.changed()
            self.wake.clear()
        return again

    def _sleeps(self, fetcher: Waiting | None, cursor: Cursor) -> bool:
        """Whether its fetcher may not know of it: the fetcher may have become idle while the leader was unknown, and
        another user of the cluster object (such as a producer) has looked up the leader since."""
        return fetcher is not None and fetcher.idle and not fetcher.full and cursor.fetchable

    def _missing(self, cursor: Cursor, *, homeless: bool) -> Callable[[list[Cursor]], Awaitable[None]] | None:
        """Return the look-up that this cursor needs, if any; `homeless`: its leader is unknown."""
        if cursor.state == RESOLVING:
            return self._outside if cursor.start.kind == "outside" else self._start
        if cursor.state == VALIDATING:
            return self._validate
        return self._leader if cursor.state == READY and homeless else None

    async def _look_up(self, work: Callable[[list[Cursor]], Awaitable[None]], cursors: list[Cursor]) -> None:
        now = asyncio.get_running_loop().time()
        still = [one for one in cursors if self._missing(one, homeless=self.reader.node_of(one, now) < 0) == work]
        try:
            if still:  # a seek since this task was created may need another look-up, or none
                await work(still)
        except KcliError as error:
            if cannot_connect(error):
                raise
            for cursor in still:
                self._later(cursor, error)
        finally:
            for cursor in cursors:
                cursor.busy = False
            self.reader.changed()

    def _later(self, cursor: Cursor, error: KcliError) -> None:
        """Retry temporary errors for two request timeouts; other errors end the partition."""
        now = asyncio.get_running_loop().time()
        cursor.failed_once(now, error)
        LOG.info("%s[%d]: looked up again: %s", *cursor.at, error)
        self.reader.observer.retried(cursor.at, cursor.attempts, str(error))
        if not error.retriable or not self.reader.patient(cursor, now):
            self.reader.fail(cursor, error)

    # -- look-ups ---------------------------------------------------------------------------------------------------

    async def _leader(self, cursors: list[Cursor]) -> None:
        async def find(cursor: Cursor) -> None:
            try:
                await self.reader.cluster.leader(cursor.at)
            except KcliError as error:
                if cannot_connect(error):
                    raise
                self._later(cursor, error)

        await asyncio.gather(*(find(cursor) for cursor in cursors))

    async def _start(self, cursors: list[Cursor]) -> None:
        """Find the start: the group's commit if "stored" is wanted, else in the log."""
        reader = self.reader
        asked = {cursor.at: cursor for cursor in cursors}
        generations = {cursor.at: cursor.generation for cursor in cursors}
        stored = [at for at, cursor in asked.items() if cursor.start.kind == "stored"]
        if stored and reader.stored is not None:
            found: dict[Cursor, int] = {}
            for at, commit in (await reader.stored(stored)).items():
                if commit is not None and commit.offset >= 0 and at in asked:
                    cursor = asked.pop(at)
                    if cursor.resolved(generations[at], commit.offset, commit.leader_epoch):
                        found[cursor] = 0
            reader.moved(found)  # before the leaders of the others are asked
        # a leader that does not respond delays only its own partitions
        by_leader: dict[int, dict[TopicPartition, Cursor]] = {}
        for at, cursor in asked.items():
            by_leader.setdefault(reader.cluster.leader_id(at), {})[at] = cursor
        await asyncio.gather(*(self._resolve(some, generations) for some in by_leader.values()))

    async def _resolve(self, asked: dict[TopicPartition, Cursor], generations: dict[TopicPartition, int]) -> None:
        """Look up the starts in the log for partitions with the same leader."""
        settings = self.reader.settings
        bounds = {at: cursor.start for at, cursor in asked.items()}
        answers = await resolve(self.reader.cluster, bounds, settings.isolation, reset=settings.reset, deadline=ROUND)
        found: dict[Cursor, int] = {}
        for at, answer in answers.items():
            cursor = asked[at]
            if cursor.generation != generations[at]:
                continue
            if isinstance(answer, KcliError):
                self._later(cursor, answer)
            elif cursor.resolved(generations[at], answer.offset):
                found[cursor] = 0
        self.reader.moved(found)  # before other leaders have responded

    async def _outside(self, cursors: list[Cursor]) -> None:
        """Apply the reset policy to positions outside the log."""
        reader, settings = self.reader, self.reader.settings
        asked = {cursor.at: (cursor, cursor.generation) for cursor in cursors}
        firsts, lasts = await asyncio.gather(
            *(
                list_offsets(
                    reader.cluster, dict.fromkeys(asked, end), settings.isolation, patience=ROUND, wait_for_leaders=True
                )
                for end in (EARLIEST, LATEST)
            )
        )
        for at, (cursor, generation) in asked.items():
            if cursor.generation != generation:
                continue
            first, last, position = firsts[at], lasts[at], cursor.position
            if isinstance(first, KcliError):
                self._later(cursor, first)
            elif isinstance(last, KcliError):
                self._later(cursor, last)
            elif first.offset <= position <= last.offset:  # it is inside: the broker that reported it lagged behind
                cursor.resolved(generation, position, cursor.epoch)
                cursor.failed_once(
                    asyncio.get_running_loop().time(), "a broker that is lagging behind refused the position"
                )
            elif settings.reset == "none":
                reader.fail(cursor, OffsetOutOfRange(at, position, first.offset, last.offset))
            else:
                to = first.offset if settings.reset == "earliest" else last.offset
                cursor.resolved(generation, to)
                reader.say(
                    f"{at.topic} partition {at.partition}: offset {position} is out of range, the log contains "
                    f"{first.offset} to {last.offset}; continuing at {to} ({settings.reset})"
                )

    async def _validate(self, cursors: list[Cursor]) -> None:
        async def validate(cursor: Cursor) -> None:
            try:
                await self._validate_one(cursor)
            except KcliError as error:
                if cannot_connect(error):
                    raise
                self._again(cursor, error)

        await asyncio.gather(*(validate(cursor) for cursor in cursors))

    def _again(self, cursor: Cursor, error: KcliError) -> None:
        """Retry a failed validation, whatever the error, even a refusal."""
        now = asyncio.get_running_loop().time()
        cursor.failed_once(now, error)
        if not self.reader.patient(cursor, now):
            self.reader.fail(cursor, error)

    async def _validate_one(self, cursor: Cursor) -> None:
        at, generation, cluster = cursor.at, cursor.generation, self.reader.cluster
        wanted = OffsetForLeaderPartition(
            partition=at.partition, current_leader_epoch=cluster.leader_epoch(at), leader_epoch=cursor.fetch_epoch
        )
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[OffsetForLeaderTopic(topic=at.topic, partitions=[wanted])]
        )
        answer = await ask_leader(cluster, at, request)
        for topic in answer.topics:
            for row in topic.partitions:
                if topic.topic != at.topic or row.partition != at.partition:
                    continue
                code = codes.of(row.error_code)
                if code:
                    if code.forget == "leader":
                        cluster.leader_moved(at)
                    about = f"{at.topic} partition {at.partition}"
                    raise BrokerError(code, about, api=request.api_key, topic=at.topic)
                if cursor.generation == generation:
                    self.truncated(cursor, row.end_offset, row.leader_epoch)
                return
        raise BrokerError(codes.UNKNOWN_SERVER_ERROR, f"{at.topic} partition {at.partition}")

    def truncated(self, cursor: Cursor, end: int, end_epoch: int) -> None:
        """The last epoch read ends at `end`: either no record is lost, or the truncation is reported and the policy
        applied."""
        position = cursor.position
        lost = cursor.validated(cursor.generation, end, end_epoch)
        if lost is None:
            cursor.succeeded()
            self.reader.changed()
            return
        unknown = end < 0 or end_epoch < 0
        if self.reader.settings.reset == "none":
            self.reader.fail(cursor, LogTruncated(cursor.at, position, lost))
            self.reader.changed()  # its buffer is discarded, which makes room for others
            return
        cursor.seek(Bound(self.reader.settings.reset) if unknown else Bound("offset", lost))
        self.reader.say(
            f"{cursor.at.topic} partition {cursor.at.partition}: the log was truncated, position {position} no "
            "longer exists; "
            + (f"continuing at the {self.reader.settings.reset}" if unknown else f"continuing at {lost}")
        )
        self.reader.changed()
