"""The consumer: batches of assigned partitions, or of partitions that a group assigns.

`poll` returns fetched batches; the next call marks them as processed. A `poll` that is cancelled, or whose `decode`
raises, takes nothing: the next call returns the same records. `messages` iterates over single messages. `Link` explains
which records count as processed.
"""

from __future__ import annotations

import asyncio
import contextlib

from kcli.consumer.fetch.reader import Reader
from kcli.consumer.group.group_bridge import Link
from kcli.consumer.poll import Delivery, Fetched
from kcli.errors import BrokerError, Closed, DeadlineExceeded, DecodeError, UnknownOutcome, UsageError
from kcli.grammar.bound import Bound, checked_bound
from kcli.metrics.observer import ConsumerObserver
from kcli.model import GroupMetadata, OffsetAndMetadata
from kcli.text.checked import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from typing import Any, Protocol

    from kcli.consumer.fetch.cursor import Cursor, Piece
    from kcli.consumer.fetch.lateness import Lateness
    from kcli.consumer.fetch.states import FetchState
    from kcli.consumer.group.group_bridge import RebalanceCallback
    from kcli.consumer.group.session import Session
    from kcli.consumer.messages import Stream
    from kcli.consumer.selection import Selection
    from kcli.errors import KcliError
    from kcli.metrics.observer import Observer
    from kcli.metrics.values import ConsumerMetrics
    from kcli.model import Cluster, TopicPartition
    from kcli.proto.batch import Batch
    from kcli.proto.columns import Columns, Message
    from kcli.settings import ConsumerSettings, GroupSettings

    Decode = Callable[[Batch, str, int], Awaitable[Batch]]

    class Objects(Protocol):
        """The interface of `kcli.formats.Formats`, which decode keys and values."""

        async def read(self, columns: Columns) -> list[tuple[Any, Any]]:
            """Return the key and value of each row."""
            ...

        def message(self, message: Message, key: Any, value: Any) -> Message | None:
            """Return the message with its objects, or None if it is skipped."""
            ...

    class Transacting(Protocol):
        """A `Producer` with a transactional id."""

        def transaction(self) -> AbstractAsyncContextManager[object]:
            """A transaction that commits at the end and aborts if its block raises."""
            ...

        async def send_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group: GroupMetadata) -> None:
            """Commit a group's offsets as part of the transaction."""
            ...


def named(at: TopicPartition) -> str:
    """Return a partition's name for an error. Raises UsageError if the value is not a partition."""
    right = isinstance(at, tuple) and len(at) == 2
    if not right or type(at[0]) is not str or type(at[1]) is not int:
        raise UsageError(f"{shown(at)} is not a partition: expected a TopicPartition(topic, number)")
    return f"{at[0]} partition {at[1]}"


LONGEST_PAUSE = 60.0  # seconds between failed logins
LAST_LEAVE = 5.0  # seconds to leave the group if the client is closed before the consumer


class Consumer:
    """Reads records until closed.

    `on_notice`, if set, is called with sentences about offset resets, truncated logs and a blocked event loop.
    `decode`, if set, is called with each batch, its topic and its partition, and returns the batch to use instead.
    """

    def __init__(
        self,
        cluster: Cluster,
        settings: ConsumerSettings,
        group: GroupSettings | None = None,
        *,
        selection: Selection | None = None,
        objects: Objects | None = None,
        rack: str = "",
        metadata_max_age: float = 300.0,
        observer: Observer | None = None,
    ) -> None:
        self._cluster = cluster
        self._selection = selection
        self._stream: Stream | None = None  # of `messages`, or of a SyncConsumer
        self.objects = objects  # decodes keys and values of messages
        self._settings = settings
        self._group_settings = group
        self._metadata_max_age = metadata_max_age
        self._rack = rack or (group.rack if group is not None else "")
        watched = ConsumerObserver(observer, "" if group is None else group.group)
        self._reader = Reader(cluster, settings, rack=self._rack, replica_holds=metadata_max_age, observer=watched)
        self._link = Link(self._reader)
        self._session: Session | None = None
        self._lateness: Lateness | None = None
        self._looking: asyncio.Task[None] | None = None  # looks for missing topics
        self._delivery = Delivery(self._reader)
        self._subscribed = False
        self._ends: dict[TopicPartition, int] = {}
        self._times: dict[TopicPartition, tuple[int, int]] = {}
        self._bounded = False
        self._closed = False
        self._client_closed = False
        self.decode: Decode | None = None  # replaces the batches that a poll returns
        self._leaving = False  # closing, while the group's callbacks may still commit

    async def __aenter__(self) -> Consumer:
        """Start to read the topics given to `client.consumer("orders", …)`, if any. Raises KcliError."""
        if self._selection is not None:
            try:
                await self._selection.begin(self, self._cluster)
            except BaseException:
                await self.close()
                raise
        return self

    async def __aexit__(self, kind: object = None, *_: object) -> None:
        """Close. If an exception left the block, the records of the last poll do not count as processed: the next owner
        reads them again (at least once)."""
        if self._stream is not None:
            if kind is None:
                self._stream.finish()
            self._stream.note_progress()
            self._stream.release()
        if kind is not None:
            self._link.dropped()
        await self.close()

    # -- selection --------------------------------------------------------------------------------------------------

    def assign(self, partitions: Mapping[TopicPartition, Bound | int]) -> None:
        """Read these partitions and no others. A partition that is already assigned starts again.

        With a group, `Bound("stored")` starts at the committed offset, and processed records are committed without
        joining the group. Raises UsageError after `subscribe`.
        """
        self._by_hand()
        self._reader.remove([at for at in self._reader.cursors if at not in partitions])
        self._add(partitions)
        self._link.dropped()

    def incremental_assign(self, partitions: Mapping[TopicPartition, Bound | int]) -> None:
        """Read these partitions, too; partitions already assigned continue, even if listed again. Raises UsageError
        after `subscribe`."""
        self._by_hand()
        self._add({at: start for at, start in partitions.items() if at not in self._reader.cursors})

    def _by_hand(self) -> None:
        self._check()
        if self._subscribed:
            raise UsageError("a subscribed consumer is assigned its partitions by the group")
        if self._group_settings is not None and self._group_settings.group:
            (self._session or self._open_session()).keep_committing()

    async def positioned(self, timeout: float = 30.0) -> None:
        """Wait until the start of each assigned partition is known, so that a record written from now on is read, even
        if the consumer starts at the end. Raises DeadlineExceeded, and the error that ended the consumer."""
        cursors = self._reader.cursors
        try:
            async with asyncio.timeout(timeout):
                while True:
                    self._reader.arrived.clear()
                    self._check()
                    unknown = [at for at, cursor in cursors.items() if cursor.position < 0 and cursor.error is None]
                    if not unknown:
                        break
                    await self._reader.arrived.wait()
        except TimeoutError:
            names = ", ".join(f"{at.topic}[{at.partition}]" for at in sorted(unknown))
            raise DeadlineExceeded(f"the start of {names} is not known after {timeout:g} s", sent=True) from None
        self._reader.arrived.set()

    def _add(self, partitions: Mapping[TopicPartition, Bound | int]) -> None:
        starts = {at: checked_bound(f"start of {named(at)}", given) for at, given in partitions.items()}
        for cursor in self._reader.add(starts):
            cursor.end = self._ends.get(cursor.at)
            cursor.times = self._times.get(cursor.at)
            if cursor.at in self._link.done and cursor.start.kind != "stored":
                self._link.sought(cursor.at, OffsetAndMetadata(cursor.position) if cursor.position >= 0 else None)

    async def subscribe(
        self,
        topics: Sequence[str] | str,
        *,
        on_assigned: RebalanceCallback | None = None,
        on_revoked: RebalanceCallback | None = None,
        on_lost: RebalanceCallback | None = None,
    ) -> None:
        """Join the group for these topics, or for all that match a regular expression.

        With group.protocol=consumer the coordinator evaluates the expression (RE2). The callbacks get the partitions
        that were assigned, revoked or lost. Raises UsageError without a group.
        """
        self._check()
        session = self._session or self._open_session()
        if self._reader.cursors and not self._subscribed:
            raise UsageError("partitions are assigned manually; call assign({}) before you subscribe")
        self._subscribed = True
        link = self._link
        link.assigned, link.revoked, link.lost = on_assigned, on_revoked, on_lost
        await session.start(topics)
        self._stop_looking()
        if not isinstance(topics, str):
            from kcli.consumer.subscription import name_missing

            looking = name_missing(self._cluster, tuple(topics), self._reader.say)
            self._looking = asyncio.create_task(looking, name="look for missing topics")
        if self._lateness is None:
            from kcli.consumer.fetch.lateness import Lateness

            self._lateness = Lateness(self._reader.say, self._consequence)

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    def _consequence(self) -> str:
        """Describe the consequence of a blocked event loop. Without a group there is none: nothing is lost, and a pager
        blocks output for as long as its user reads."""
        settings = self._group_settings
        assert settings is not None
        ours = settings.protocol == "classic"  # otherwise the coordinator decides
        limit = f"{settings.session_timeout:g} s" if ours else "the group's session timeout"
        return f"without a heartbeat for {limit} this member loses its partitions"

    def _open_session(self) -> Session:
        if self._group_settings is None or not self._group_settings.group:
            raise UsageError("subscribe() requires a group; without one, call assign()")
        from kcli.consumer.membership_kinds import open_session

        self._session = open_session(
            self._cluster, self._settings, self._group_settings, self._link, self._metadata_max_age
        )
        self._reader.stored = self._session.committed
        self._reader.on_recreated = self._begin_anew
        self._session.on_failed = lambda _error: self._reader.arrived.set()
        self._session.on_settled = self._reader.observer.settled
        self._session.on_trusted = self._reader.arrived.set
        self._session.alive = self._link.alive
        return self._session

    def _begin_anew(self, at: TopicPartition) -> bool:
        """Restart a partition of a recreated topic, if the group assigned it."""
        assert self._session is not None
        given = at in self._session.assignment
        if given:
            self._link.forget({at})
        return given

    def stop_at(self, ends: Mapping[TopicPartition, int]) -> None:
        """Finish each partition when its position reaches the offset (exclusive)."""
        for at, end in ends.items():
            checked_bound(f"end of {named(at)}", end)
        self._bounded = True
        self._ends.update(ends)
        for at, end in ends.items():
            cursor = self._reader.cursors.get(at)
            if cursor is not None:
                cursor.end = end
                if cursor.pieces:  # they may go past the end
                    cursor.rewind()
        self._reader.changed()

    def select_times(self, times: Mapping[TopicPartition, tuple[int, int]]) -> None:
        """Return only records with a timestamp in [start, stop), in ms, from each of these partitions."""
        self._times.update(times)
        for at, window in times.items():
            if (cursor := self._reader.cursors.get(at)) is not None:
                cursor.times = window

    @property
    def finished(self) -> bool:
        """Whether every partition has reached its end; always False without `stop_at`."""
        return self._bounded and all(cursor.done for cursor in self._reader.cursors.values())

    @property
    def assignment(self) -> set[TopicPartition]:
        return set(self._reader.cursors)

    @property
    def on_notice(self) -> Callable[[str], None] | None:
        return self._reader.notice

    @on_notice.setter
    def on_notice(self, callback: Callable[[str], None] | None) -> None:
        self._reader.notice = callback

    @property
    def metrics(self) -> ConsumerMetrics:
        """A snapshot of the counters, including what is buffered."""
        metrics = self._reader.observer.metrics.copy()
        buffered = [cursor.buffered for cursor in self._reader.cursors.values() if cursor.chunks]
        metrics.buffered_bytes, metrics.buffered_partitions = sum(buffered), len(buffered)
        return metrics

    def fetch_states(self) -> dict[TopicPartition, FetchState]:
        """Return whether and why each assigned partition is currently fetched (`kcli.consumer.fetch.states.STATES`)."""
        from kcli.consumer.fetch.states import states_of

        return states_of(self._reader, asyncio.get_running_loop().time())

    def undecided(self) -> dict[TopicPartition, tuple[int, int]]:
        """Return the partitions that wait at their last stable offset, with that offset and the high watermark.

        The records between the two belong to open transactions or follow one; read_committed consumers wait for them.
        """
        if self._reader.settings.isolation != "read_committed":
            return {}
        return {
            at: (cursor.stable, cursor.watermark)
            for at, cursor in self._reader.cursors.items()
            if 0 <= cursor.stable <= cursor.position and cursor.stable < cursor.watermark and not cursor.done
        }

    def behind(self) -> dict[TopicPartition, int]:
        """Return the positions of partitions that are being fetched and have not reached their end of `stop_at`, except
        those that wait for a transaction."""
        from kcli.consumer.fetch.states import FETCHING

        states, undecided = self.fetch_states(), self.undecided()
        return {
            at: cursor.position
            for at, cursor in self._reader.cursors.items()
            if cursor.end is not None and not cursor.done and states[at].state == FETCHING and at not in undecided
        }

    # -- positions --------------------------------------------------------------------------------------------------

    def position(self, at: TopicPartition) -> int | None:
        """The next offset to return; None until the start is known. Raises UsageError if the partition is not owned."""
        offset = self._cursor(at).position
        there = None if self._stream is None else self._stream.position(at)
        return there if there is not None else offset if offset >= 0 else None

    def seek(self, at: TopicPartition, to: Bound | int | OffsetAndMetadata) -> None:
        """Continue at another offset and discard fetched records.

        The next commit is this offset, even if it is before records already processed. Raises UsageError if the
        partition is not owned.
        """
        cursor = self._cursor(at)
        self._release()
        cursor.era += 1
        if isinstance(to, OffsetAndMetadata):
            cursor.seek(checked_bound("seek: offset", to.offset), to.leader_epoch)
        else:
            cursor.seek(checked_bound("seek: offset", to))
        place = None if cursor.position < 0 else OffsetAndMetadata(cursor.position, cursor.epoch)
        self._link.sought(at, place)
        if self._stream is not None:
            self._stream.sought(at)
        self._reader.changed()

    def validate_position(self, at: TopicPartition) -> None:
        """Check that the position is inside the log, and apply the reset policy if it is not.

        A consumer that stops at an end before its position would never fetch, and so never notice. Raises UsageError if
        the partition is not owned.
        """
        self._cursor(at).reset(Bound("outside"))
        self._reader.changed()

    def pause(self, *what: TopicPartition | str) -> None:
        """Return no records of these partitions; buffered records are kept, and requests in flight continue.

        A string is a topic: all its partitions are paused, including partitions assigned later, independently of the
        state of single partitions. Raises UsageError for a partition that is not owned.
        """
        self._release()
        if self._mark_paused(what, True):
            self._reader.changed()

    def resume(self, *what: TopicPartition | str) -> None:
        """Return records of these again; no effect if they are not paused. A partition that was paused individually
        stays paused when its topic is resumed, and vice versa."""
        if self._mark_paused(what, False):
            self._reader.changed()

    def _mark_paused(self, what: Iterable[TopicPartition | str], paused: bool) -> bool:
        """Mark these; return whether more can now be returned or fetched. Fetching is affected because the buffer of a
        paused partition does not count."""
        topics = {name for name in what if isinstance(name, str)}
        cursors = [self._cursor(at) for at in what if not isinstance(at, str)]
        for cursor in cursors:
            cursor.paused_alone = paused
        held = self._reader.paused_topics
        if topics:
            held ^= topics - held if paused else topics & held
            cursors = list(self._reader.cursors.values())
        freed = False
        for cursor in cursors:
            now = cursor.paused_alone or cursor.at.topic in held
            freed = freed or (cursor.paused != now and (cursor.paused or bool(cursor.chunks)))
            cursor.paused = now
        return freed

    @property
    def paused(self) -> set[TopicPartition]:
        """The owned partitions that are paused, individually or by topic."""
        return {at for at, cursor in self._reader.cursors.items() if cursor.paused}

    def _cursor(self, at: TopicPartition) -> Cursor:
        try:
            return self._reader.cursors[at]
        except (KeyError, TypeError):
            raise UsageError(f"{named(at)} is not assigned to this consumer") from None

    # -- records ----------------------------------------------------------------------------------------------------

    async def poll(
        self, timeout: float | None = None, max_bytes: int | None = None, max_records: int | None = None
    ) -> list[Fetched]:
        """Return fetched records: about `max_bytes` decompressed and `max_records` at most, but at least one record.

        Waits up to `timeout` seconds (None: forever) for the first. Without `max_bytes`, it returns one fetch of a
        partition, or one larger batch. The result is empty at the timeout, and when all partitions are finished. Raises
        the error that ended the consumer or its membership, and Closed after close.
        """
        for name, limit in (("max_bytes", max_bytes), ("max_records", max_records)):
            if limit is not None and limit < 1:
                raise UsageError(f"{name}={limit}: expected 1 or more")
        return await self._poll(timeout, max_bytes, max_records)

    async def _poll(
        self,
        timeout: float | None = None,
        max_bytes: int | None = None,
        max_records: int | None = None,
        *,
        single: bool = False,
    ) -> list[Fetched]:
        """Poll; `single`: return records of one partition only."""
        if self._stream is not None:
            self._stream.finish()
            self._release()
        loop = asyncio.get_running_loop()
        began = loop.time()
        deadline = None if timeout is None else began + timeout
        try:
            while pieces := await self.take(deadline, max_bytes, single=single):
                if max_bytes is not None or max_records is not None:
                    pieces = self._delivery.limit(pieces, max_records, max_bytes)
                if self.decode is not None:
                    pieces = await self._decoded(pieces, self.decode)
                if pieces:
                    self._link.take(pieces)
                    break
            return [piece.fetched for piece in pieces]
        finally:
            self._reader.observer.polled(began, loop.time())

    async def take(
        self, deadline: float | None = None, max_bytes: int | None = None, *, single: bool = False
    ) -> list[Piece]:
        """Return the next pieces, waiting like `poll`, until a loop time. Pieces taken before count as processed; the
        caller reports when these are."""
        self._link.handed_back()
        loop = asyncio.get_running_loop()
        most = self._settings.partition_max_bytes if max_bytes is None else max_bytes
        while True:
            self._check()
            if self._session is not None:
                if self._subscribed:
                    self._session.polled()
                else:
                    self._session.check()
            self._reader.arrived.clear()
            got = self._delivery.hand_out(most, self._owned, single=single)
            if got or self.finished:
                self._link.begun(got)
                return got
            left = None if deadline is None else deadline - loop.time()
            if left is not None and left <= 0:
                return []
            # max.poll.interval limits the time between polls; waiting in a poll counts as polling
            pause = left
            if self._group_settings is not None and self._subscribed:
                turn = min(self._group_settings.max_poll_interval / 3, 1.0)
                pause = turn if left is None else min(left, turn)
            try:
                async with asyncio.timeout(pause):
                    await self._reader.arrived.wait()
            except TimeoutError:
                continue

    @property
    def _owned(self) -> frozenset[TopicPartition] | None:
        """The partitions that the group currently assigns; None without a group."""
        return self._session.assignment if self._subscribed and self._session is not None else None

    async def __aiter__(self) -> AsyncIterator[Fetched]:
        """Iterate over what `poll` returns, one partition at a time, until finished or closed.

        What is left when the loop ends is returned by the next call. Raises like `poll`, and Closed if the client was
        closed first.
        """
        while not self._closed or self._client_closed:
            try:
                got = await self._poll(single=True)
            except Closed:
                if self._client_closed:
                    raise
                return
            for fetched in got:
                yield fetched
            if not got and self.finished:
                return

    # -- messages, one after another ---------------------------------------------------------------------------------

    async def messages(self) -> AsyncIterator[Message]:
        """Iterate over messages until finished or closed: `async for message in consumer.messages()`.

        A message counts as processed when the next one is requested. Messages that were fetched but not yet returned
        when the loop ends come first in the next call, whichever it is. For large volumes, iterating over the consumer
        itself, which gives batches, is faster. Raises like `poll`, and a partition's error at its position.
        """
        stream = self._stream or self.stream_for(self._next_batch, lambda function: function())
        objects = self.objects
        while not self._closed or self._client_closed:
            if objects is None:
                for message in stream.messages:
                    yield message
            else:
                with contextlib.suppress(StopIteration):
                    while True:
                        yield stream.next_made(objects)
            try:
                pieces = await self.take_made()
            except Closed:
                if self._client_closed:
                    raise
                return
            if not pieces and self.finished:
                return
            stream.add(pieces)

    async def messages_of(self, fetched: Fetched) -> list[Message]:
        """Return the messages in a result of `poll`, of iterating, or of `Workers`, decoded by the consumer's formats;
        batches themselves keep their bytes.

        Raises DecodeError, and KcliError if a registry does not respond; `fetched.error` is not raised.
        """
        from kcli.consumer.messages import messages_of

        messages = messages_of(fetched)
        if self.objects is None:
            return messages
        rows = [row for batch in fetched.batches for row in await self.objects.read(batch.columns())]
        made = [self.objects.message(message, *row) for message, row in zip(messages, rows, strict=True)]
        return [message for message in made if message is not None]

    async def take_made(self) -> list[Piece]:
        """Like `take`, with the decoded objects of the messages, for `stream_for`. Raises KcliError if a registry does
        not respond; then nothing is taken."""
        pieces = await self.take()
        if self.objects is not None and self._stream is not None:
            try:
                for piece in pieces:
                    for batch in piece.fetched.batches:
                        with contextlib.suppress(DecodeError):  # the iterator raises it in place of the batch
                            columns = batch.columns()
                            made = await self.objects.read(columns)
                            for offset, objects in zip(columns.offsets, made, strict=True):
                                self._stream.objects[piece.at.topic, piece.at.partition, offset] = objects
            except BaseException:
                self.give_back(pieces)
                self._stream.objects.clear()
                raise
        return pieces

    def _next_batch(self) -> None:
        """Move on from an exhausted batch. Raises StopIteration if the next one has to be waited for."""
        assert self._stream is not None
        if not self._stream.advance():
            raise StopIteration

    def stream_for(self, more: Callable[[], None], soon: Callable[[Callable[[], object]], object]) -> Stream:
        """Return the stream of messages, which calls `more` to open the next batch. `soon` schedules a function in the
        loop's thread."""
        from kcli.consumer.messages import Stream

        link = self._link
        self._stream = link.stream = Stream(link, more, lambda: soon(link.returned.set))
        return self._stream

    def _release(self) -> None:
        """Give back messages that were fetched and not returned: the next call returns them, whichever it is."""
        if self._stream is not None:
            self.give_back(self._stream.release())

    async def _decoded(self, pieces: list[Piece], decode: Decode) -> list[Piece]:
        """Apply `decode` and return the finished pieces. If it raises for the first piece, nothing is taken."""
        ready = 0
        try:
            for piece in pieces:
                if not piece.decoded:
                    fetched = piece.fetched
                    batches = [await decode(batch, fetched.topic, fetched.partition) for batch in fetched.batches]
                    fetched.batches, piece.decoded = batches, True
                ready += 1
            if self._subscribed and self._session is not None:
                self._session.polled()  # decoding is part of the poll
        except BaseException as error:
            if ready == 0 or not isinstance(error, Exception):
                self._delivery.give_back(pieces)
                raise
        self._delivery.give_back(pieces[ready:])
        return self._delivery.standing(pieces[:ready], self._owned)

    def untake(self) -> None:
        """Undo the last `poll`, whose result did not reach the program: the next call returns it."""
        self._delivery.give_back(self._link.untake())

    @property
    def link(self) -> Link:
        """The record of what was taken and processed, for a `SyncConsumer`, which takes messages itself."""
        return self._link

    def give_back(self, pieces: Sequence[Piece]) -> None:
        """Return these pieces of a `take`, in their order, with the next call."""
        self._delivery.give_back(pieces)

    # -- exactly once ------------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def transaction(
        self, producer: Transacting, timeout: float | None = None, max_records: int | None = None
    ) -> AsyncIterator[list[Message]]:
        """`async with consumer.transaction(producer) as messages:` polls, and runs the block in one transaction with
        the commit of the messages' offsets (KIP-447).

        An exception in the block aborts the transaction, and the next call returns the same messages. If no message
        arrives within `timeout` seconds there is no transaction. The consumer makes no other commits:
        `auto_commit=True` is a UsageError. Raises like `poll`, `Producer.commit` and `send_offsets`; after
        UnknownOutcome and Fenced, close both and start again.
        """
        self.commit_by_hand()
        fetched = await self.poll(timeout, max_records=max_records)
        places, committing = self._link.out.copy(), False
        try:
            for one in fetched:
                if one.error is not None:
                    raise one.error
            messages = [message for one in fetched for message in await self.messages_of(one)]
            if not fetched:
                yield messages
                return
            member = self.group_metadata()
            async with producer.transaction():
                yield messages
                await producer.send_offsets(places, member)
                committing = True
        except BaseException as problem:
            if not (committing and isinstance(problem, UnknownOutcome)):
                self.untake()
            raise
        self._link.committed(places)

    # -- the group --------------------------------------------------------------------------------------------------

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None) -> None:
        """Commit the group's next offsets; by default the positions after all records returned. Raises BrokerError for
        a partition that is not owned, UsageError without a group."""
        session = self._in_group()
        if offsets is None:
            if self._stream is not None:
                self._stream.finish()
            self._link.handed_back()
            await session.commit(self._link.to_commit(None))
            return
        places = {at: self._with_epoch(at, offset) for at, offset in offsets.items()}
        await session.commit(places)
        self._link.committed(places)
        if self._stream is not None:
            for at, place in places.items():
                self._stream.confirmed(at, place.offset)

    def commit_by_hand(self) -> None:
        """Commit only through `commit` with offsets from now on (for `Workers`). Raises UsageError if the settings
        contradict."""
        if self._group_settings is not None and self._group_settings.auto_commit:
            raise UsageError(
                "auto_commit=True: Workers commit the records that their function has processed; omit auto_commit"
            )
        self._link.by_hand = True

    def _with_epoch(self, at: TopicPartition, offset: OffsetAndMetadata | int) -> OffsetAndMetadata:
        """Add the leader epoch of the last record read, if the offset is the position."""
        given = offset if isinstance(offset, OffsetAndMetadata) else OffsetAndMetadata(offset)
        checked_bound(f"commit of {named(at)}", given.offset)
        cursor = self._reader.cursors.get(at)
        if given.leader_epoch < 0 and cursor is not None and cursor.position == given.offset:
            return OffsetAndMetadata(given.offset, cursor.epoch, given.metadata)
        return given

    def group_metadata(self) -> GroupMetadata:
        """This member's identity in its group, for `Producer.send_offsets`.

        The broker rejects the transaction if the group has rebalanced since (KIP-447), so get it for each transaction.
        Raises UsageError without a group.
        """
        session = self._in_group()
        settings = self._group_settings
        assert settings is not None
        return GroupMetadata(settings.group, session.generation, session.member_id, settings.instance_id)

    @property
    def patience(self) -> float | None:
        """During a revocation: the seconds that `on_revoked` may still take before the group continues without this
        member. 0.0 if the partitions are already lost; None if there is no revocation."""
        return None if self._session is None else self._session.patience

    async def committed(self, ats: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Return the group's committed offsets, None for a partition without one. Raises UsageError without a group."""
        return await self._in_group().committed(ats)

    def _in_group(self) -> Session:
        if self._leaving and self._session is not None:
            return self._session
        self._check()
        return self._session or self._open_session()

    # -- the end ----------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._closed:
            raise Closed("the client was closed" if self._client_closed else "the consumer was closed")
        if self._reader.failure is not None:
            raise self._reader.failure

    def login_failed(self, text: str, error: KcliError | None) -> None:
        """Report that the client cannot log in at the moment; an `error` means that it gave up."""
        if not self._closed:
            self._reader.say(text)
            longest = 1.2 * LONGEST_PAUSE + 2 * self._settings.request_timeout
            self._reader.excused_until = asyncio.get_running_loop().time() + longest
            if error is not None:
                self._reader.failure = self._reader.failure or error
                self._reader.arrived.set()

    def forked(self, error: KcliError) -> None:
        """Refuse all calls, because this is a copy in a forked child."""
        self._reader.failure = error

    async def close(self, timeout: float = 30.0) -> None:
        """Commit (if automatic), leave the group and end all tasks, waiting for the group at most `timeout` seconds.

        A second call does nothing. Raises the error of the last commit if it failed.
        """
        if self._closed:
            return
        self._closed = True
        self._stop_looking()
        self._link.handed_back()
        self._reader.arrived.set()
        try:
            if self._session is not None:
                self._leaving = True
                await self._leave(self._session, timeout)
        finally:
            self._delivery.close()
            if self._lateness is not None:
                self._lateness.close()
            await self._reader.close()

    async def _leave(self, session: Session, timeout: float) -> None:
        """Leave the group. If a rebalance overtook the last commit, that is only a notice, because the next owner reads
        the records again."""
        try:
            await session.close(timeout)
        except BrokerError as problem:
            from kcli.consumer.group.session import overtaken

            if not overtaken(problem):
                raise
            self._reader.say(f"the last commit was refused, so its records will be read again: {problem}")

    async def client_closed(self) -> None:
        """Close because the client is closed first: every poll raises Closed. The group gets the partitions back; the
        records of the last poll are not committed, and are read again."""
        if not self._closed:
            self._client_closed = True
            self._link.dropped()
            await self.close(LAST_LEAVE)
