"""The consumer: batches out of assigned partitions, or out of those a group gives.

`poll` hands out what was fetched, a batch at a time and never a record at a time; asking again says that what was
handed out is done. A cancelled `poll` has taken nothing.
"""

from __future__ import annotations

import asyncio

from kcli.consumer.bounds import Bound, OffsetAndEpoch
from kcli.consumer.link import Link
from kcli.consumer.reader import Reader
from kcli.errors import Closed, KcliError, UsageError
from kcli.model import GroupMetadata
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from kcli.consumer.cursor import Cursor
    from kcli.consumer.link import Told
    from kcli.consumer.session import Session
    from kcli.model import Cluster, TopicPartition
    from kcli.proto.batch import Batch
    from kcli.settings import ConsumerSettings, GroupSettings


class Fetched(Value):
    """What one poll hands out of one partition. `next_offset` is the position after it; `batches` may be empty where
    only markers or aborted records were, or where `error` is all there is. Offsets are -1 where unknown. `skipped` says
    what skip_corrupt left out."""

    topic: str = ""
    partition: int = 0
    batches: list[Batch] = ()  # type: ignore[assignment]
    next_offset: int = -1
    high_watermark: int = -1
    last_stable_offset: int = -1
    log_start_offset: int = -1
    error: KcliError | None = None
    skipped: Sequence[KcliError] = ()


class Consumer:
    """Reads until closed. `on_notice`, if set, is called with sentences about resets and truncations."""

    def __init__(
        self, cluster: Cluster, settings: ConsumerSettings, group: GroupSettings | None = None, *, rack: str = "",
        metadata_max_age: float = 300.0,
    ) -> None:  # fmt: skip
        self._cluster = cluster
        self._settings = settings
        self._group_settings = group
        self._metadata_max_age = metadata_max_age
        self._rack = rack or (group.rack if group is not None else "")
        self._reader = Reader(cluster, settings, rack=self._rack, replica_holds=metadata_max_age)
        self._link = Link(self._reader)
        self._session: Session | None = None
        self._turn: list[TopicPartition] = []
        self._ends: dict[TopicPartition, int] = {}
        self._bounded = False
        self._closed = False
        self._leaving = False  # closing, and the group's callbacks may still commit (E39)

    async def __aenter__(self) -> Consumer:
        return self

    async def __aexit__(self, kind: object = None, *_: object) -> None:
        """Close. When the block was left by an exception, what the last poll handed out is not done: the next owner
        reads it again, at least once (E38)."""
        if kind is not None:
            self._link.out.clear()
        await self.close()

    # -- what is read -----------------------------------------------------------------------------------------------

    def assign(self, partitions: Mapping[TopicPartition, Bound | int]) -> None:
        """Read these and no others. A partition that is assigned already starts anew. Raises UsageError after
        `subscribe`."""
        self._check()
        if self._session is not None:
            raise UsageError("a subscribed consumer is assigned its partitions by the group")
        starts = {at: Bound("offset", start) if isinstance(start, int) else start for at, start in partitions.items()}
        self._reader.remove([at for at in self._reader.cursors if at not in starts])
        for cursor in self._reader.add(starts):
            cursor.end = self._ends.get(cursor.at)
        self._link.out.clear()

    async def subscribe(
        self,
        topics: Sequence[str] | str,
        *,
        on_assigned: Told | None = None,
        on_revoked: Told | None = None,
        on_lost: Told | None = None,
    ) -> None:
        """Join the group for these topics, or for all that match a regular expression. With
        group.protocol=consumer the expression is the coordinator's (RE2). Callbacks get the partitions that came or
        went. Raises UsageError without a group."""
        self._check()
        session = self._session or self._open_session()
        link = self._link
        link.assigned, link.revoked, link.lost = on_assigned, on_revoked, on_lost
        await session.start(topics)

    def _open_session(self) -> Session:
        if self._group_settings is None or not self._group_settings.group:
            raise UsageError("to subscribe takes a group; without one, assign partitions")
        settings = self._settings
        times = {
            "request_timeout": settings.request_timeout,
            "retry_backoff": settings.retry_backoff,
            "retry_backoff_max": settings.retry_backoff_max,
        }
        if self._group_settings.protocol == "consumer":
            from kcli.consumer.consumer_group import ConsumerGroupSession

            self._session = ConsumerGroupSession(
                self._cluster, self._group_settings, self._link, self._link, **times
            )  # fmt: skip
        else:
            from kcli.consumer.group import GroupSession

            self._session = GroupSession(
                self._cluster, self._group_settings, self._link, self._link,
                metadata_max_age=self._metadata_max_age, **times,
            )  # fmt: skip
        self._reader.stored = self._session.committed
        self._session.on_failed = lambda _error: self._reader.arrived.set()
        return self._session

    def stop_at(self, ends: Mapping[TopicPartition, int]) -> None:
        """Finish each partition when its position reaches the offset (exclusive, E18)."""
        self._bounded = True
        self._ends.update(ends)
        for at, end in ends.items():
            cursor = self._reader.cursors.get(at)
            if cursor is not None:
                cursor.end = end
        self._reader.changed()

    @property
    def finished(self) -> bool:
        """Whether every partition reached its end; never without `stop_at`."""
        return self._bounded and all(cursor.done for cursor in self._reader.cursors.values())

    @property
    def assignment(self) -> set[TopicPartition]:
        return set(self._reader.cursors)

    @property
    def on_notice(self) -> Callable[[str], None] | None:
        return self._reader.notice

    @on_notice.setter
    def on_notice(self, told: Callable[[str], None] | None) -> None:
        self._reader.notice = told

    # -- where ------------------------------------------------------------------------------------------------------

    def position(self, at: TopicPartition) -> int | None:
        """The next offset to be delivered (E24); None before the start is known. Raises UsageError if not owned."""
        offset = self._cursor(at).position
        return offset if offset >= 0 else None

    def seek(self, at: TopicPartition, to: Bound | int | OffsetAndEpoch) -> None:
        """Read on from elsewhere; what was fetched is dropped. Raises UsageError if not owned."""
        cursor = self._cursor(at)
        if isinstance(to, OffsetAndEpoch):
            cursor.seek(Bound("offset", to.offset), to.leader_epoch)
        else:
            cursor.seek(Bound("offset", to) if isinstance(to, int) else to)
        self._reader.changed()

    def pause(self, *ats: TopicPartition) -> None:
        """Hand out nothing of these; what is buffered stays, what is under way is not disturbed (E28, E30)."""
        for at in ats:
            self._cursor(at).paused = True

    def resume(self, *ats: TopicPartition) -> None:
        """Hand out again; nothing at all for a partition that is not paused (E29)."""
        resumed = [cursor for cursor in map(self._cursor, ats) if cursor.paused]
        for cursor in resumed:
            cursor.paused = False
        if resumed:
            self._reader.changed()

    @property
    def paused(self) -> set[TopicPartition]:
        return {at for at, cursor in self._reader.cursors.items() if cursor.paused}

    def _cursor(self, at: TopicPartition) -> Cursor:
        try:
            return self._reader.cursors[at]
        except KeyError:
            raise UsageError(f"{at.topic} partition {at.partition} is not assigned to this consumer") from None

    # -- records ----------------------------------------------------------------------------------------------------

    async def poll(self, timeout: float | None = None, max_bytes: int | None = None) -> list[Fetched]:
        """What is there, at most about `max_bytes` as fetched (by default one fetch of a partition); waits up to
        `timeout` seconds (None: for ever) for the first of it. Empty at the timeout, and when all is finished.
        Raises what ended the consumer or its membership, Closed after close."""
        self._link.handed_back()
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        most = self._settings.partition_max_bytes if max_bytes is None else max_bytes
        while True:
            self._check()
            if self._session is not None:
                self._session.polled()
            self._reader.arrived.clear()
            got = self._hand_out(self._ready(most))
            if got or self.finished:
                return got
            left = None if deadline is None else deadline - loop.time()
            if left is not None and left <= 0:
                return []
            # max.poll.interval is about a user who does not ask; one who waits here does (E35)
            pause = left
            if self._group_settings is not None and self._session is not None:
                turn = min(self._group_settings.max_poll_interval / 3, 1.0)
                pause = turn if left is None else min(left, turn)
            try:
                async with asyncio.timeout(pause):
                    await self._reader.arrived.wait()
            except TimeoutError:
                continue

    def _ready(self, most: int) -> list[Cursor]:
        """The cursors to hand out now: those that waited longest, until `most` bytes are reached."""
        cursors = self._reader.cursors
        owned = None if self._session is None else self._session.assignment
        known = [at for at in self._turn if at in cursors]
        if len(known) != len(cursors):
            seen = set(known)
            known += [at for at in cursors if at not in seen]
        self._turn = known
        ready: list[Cursor] = []
        size = 0
        for at in known:
            cursor = cursors[at]
            if not cursor.deliverable or (owned is not None and at not in owned):
                continue
            if cursor.chunks:
                if ready and size + cursor.chunks[0].size > most:
                    break
                size += cursor.chunks[0].size
            ready.append(cursor)
        return ready

    def _hand_out(self, ready: list[Cursor]) -> list[Fetched]:
        """The first chunk of each. They go to the end of the queue."""
        got = [self._next_of(cursor) for cursor in ready]
        if got:
            served = {cursor.at for cursor in ready}
            self._turn = [at for at in self._turn if at not in served] + [cursor.at for cursor in ready]
            self._reader.changed()
        return got

    def _next_of(self, cursor: Cursor) -> Fetched:
        at = cursor.at
        if not cursor.chunks:
            error, cursor.error = cursor.error, None
            return Fetched(topic=at.topic, partition=at.partition, batches=[], next_offset=cursor.position, error=error)
        chunk = cursor.chunks[0]
        chunk.open(at, self._settings)
        settings = self._settings
        batches, following = chunk.window(
            cursor.position, cursor.end, committed=settings.isolation == "read_committed",
            control=settings.include_control,
        )  # fmt: skip
        trouble = chunk.trouble
        cursor.delivered(following, -1 if trouble is not None else chunk.epoch)
        if trouble is not None and not (cursor.end is not None and following >= cursor.end):
            cursor.rewind()
            cursor.fail(trouble)
            cursor.error = None  # handed out right here
        else:
            trouble = None
        self._link.hand_out(at, following, cursor.epoch)
        data = chunk.data
        return Fetched(
            topic=at.topic,
            partition=at.partition,
            batches=batches,
            next_offset=following,
            high_watermark=data.high_watermark,
            last_stable_offset=data.last_stable_offset,
            log_start_offset=data.log_start_offset,
            error=trouble,
            skipped=chunk.skipped,
        )

    async def __aiter__(self) -> Any:
        """What poll hands out, one partition at a time, until finished or closed."""
        while not self._closed:
            try:
                got = await self.poll()
            except Closed:
                return
            for fetched in got:
                yield fetched
            if not got and self.finished:
                return

    # -- the group --------------------------------------------------------------------------------------------------

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndEpoch | int] | None = None) -> None:
        """Commit the group's next offsets; by default the positions of all that was handed out (E37). Raises
        BrokerError for a partition that is not owned now (E38), UsageError without a group."""
        session = self._in_group()
        if offsets is None:
            await session.commit({**self._link.done, **self._link.out})
            return
        await session.commit({at: self._with_epoch(at, offset) for at, offset in offsets.items()})

    def _with_epoch(self, at: TopicPartition, offset: OffsetAndEpoch | int) -> OffsetAndEpoch:
        """An offset that is the position goes with the epoch of the record before it."""
        given = OffsetAndEpoch(offset) if isinstance(offset, int) else offset
        cursor = self._reader.cursors.get(at)
        if given.leader_epoch < 0 and cursor is not None and cursor.position == given.offset:
            return OffsetAndEpoch(given.offset, cursor.epoch, given.metadata)
        return given

    def group_metadata(self) -> GroupMetadata:
        """This member's place in its group, for `Producer.send_offsets`: with it a transaction is refused when the
        group has moved on (KIP-447). Take it anew for each transaction. Raises UsageError without a group."""
        session = self._in_group()
        settings = self._group_settings
        assert settings is not None
        return GroupMetadata(settings.group, session.generation, session.member_id, settings.instance_id)

    async def committed(self, ats: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndEpoch | None]:
        """The group's commits, None where there is none. Raises UsageError without a group."""
        return await self._in_group().committed(ats)

    def _in_group(self) -> Session:
        if self._leaving and self._session is not None:
            return self._session
        self._check()
        return self._session or self._open_session()

    # -- the end ----------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._closed:
            raise Closed("the consumer was closed")
        if self._reader.failure is not None:
            raise self._reader.failure

    async def close(self) -> None:
        """Commit (if automatic), leave the group, end every task. Again: nothing (B30). Raises why the last commit
        did not succeed."""
        if self._closed:
            return
        self._closed = True
        self._link.handed_back()
        self._reader.arrived.set()
        try:
            if self._session is not None:
                self._leaving = True
                await self._session.close()
        finally:
            await self._reader.close()
