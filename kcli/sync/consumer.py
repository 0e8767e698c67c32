"""A consumer without async: an iterator of messages."""

from __future__ import annotations

import contextlib
from collections import deque, namedtuple
from threading import Lock

from kcli.asking.offsets import LATEST, list_offsets
from kcli.errors import BrokerError, Closed, KcliError, UsageError
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition
from kcli.proto import core
from kcli.proto.columns import Message
from kcli.settings import ConsumerSettings, GroupSettings
from kcli.sync.loop_thread import Unopened
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType
    from typing import NamedTuple, Self

    from kcli.client import Client
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.fetch.states import FetchState
    from kcli.consumer.poll import Fetched
    from kcli.metrics.values import ConsumerMetrics
    from kcli.model import GroupMetadata, OffsetAndMetadata
    from kcli.proto.batch import Batch
    from kcli.sync.loop_thread import LoopThread

    class Selection(NamedTuple):
        """The selection of records: see `SyncClient.consumer`."""

        topics: tuple[str, ...]
        group: GroupSettings | str | None
        start: Bound | str
        stop_at_end: bool
else:
    Selection = namedtuple("Selection", "topics group start stop_at_end")

LOG = Log("consumer.group")
WORDS = ("earliest", "latest")


class SyncConsumer:
    """`with kafka.consumer("orders", group="billing") as consumer: for message in consumer:`.

    A group commits what was iterated over. A message counts as done when the next one is asked for, or when the block
    is left in order; when an exception leaves it, what came with the last fetch is read again, at least once.
    """

    def __init__(
        self, thread: LoopThread, client: Client, selection: Selection, settings: ConsumerSettings | None
    ) -> None:
        """Raises UsageError for a selection that makes no sense."""
        if not selection.topics:
            raise UsageError("which topics? consumer('orders')")
        self._opened = thread
        self._thread: LoopThread | Unopened = Unopened("consumer")
        self._client = client
        self._selection = selection
        group, start = selection.group, selection.start
        own = settings or ConsumerSettings()
        self._group = GroupSettings(group=group) if isinstance(group, str) else group
        if isinstance(start, str):
            if start not in WORDS:
                raise UsageError(f"start {start!r}: expected {' or '.join(WORDS)}, or a Bound")
            own = own.replace(reset=start)
        elif self._group is not None:
            raise UsageError(f"start {start}: a member of a group starts at its commits; expected earliest or latest")
        if selection.stop_at_end and self._group is not None:
            raise UsageError("stop_at_end: a group has no end; read without a group")
        self._consumer: Consumer = thread.call(lambda: client.consumer(own, self._group))
        self._messages = core.Messages(self._go_on)
        self._fetched: deque[tuple[Fetched, Batch | None]] = deque()  # not iterated over; None: all batches were
        self._read: dict[TopicPartition, int] = {}  # one past what was iterated over
        self._gone: set[TopicPartition] = set()  # given up since the last fetch
        self._turn = Lock()  # of the thread that opens the next batch
        self._iterating = False

    def __enter__(self) -> Self:
        self._thread = self._opened
        self._thread.run(self._begin())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.forked:
            return
        with contextlib.suppress(Closed):  # the client was closed first, and the consumer with it
            self._thread.run(self._end(kind))

    async def _begin(self) -> None:
        topics = self._selection.topics
        if self._group is not None:
            await self._consumer.subscribe(topics, on_revoked=self._give_up, on_lost=self._give_up)
            return
        cluster = self._client.cluster
        partitions = [TopicPartition(topic, number) for topic in topics for number in await cluster.partitions(topic)]
        start = self._selection.start
        bound = Bound(start) if isinstance(start, str) else start
        if self._selection.stop_at_end:
            ends = await list_offsets(cluster, dict.fromkeys(partitions, LATEST), wait_for_leaders=True)
            for end in ends.values():
                if isinstance(end, KcliError):
                    raise end
            self._consumer.stop_at({at: end.offset for at, end in ends.items() if not isinstance(end, KcliError)})
        self._consumer.assign(dict.fromkeys(partitions, bound))

    async def _end(self, kind: type[BaseException] | None) -> None:
        """Close. Of the last fetch only what was iterated over is done, and nothing when an exception came."""
        unread = self._messages.left() or any(batch is not None for _, batch in self._fetched)
        try:
            if kind is None and unread and self._group is not None and self._group.auto_commit:
                await self._consumer.commit(self._own())
        except BrokerError as problem:
            from kcli.consumer.group.session import overtaken

            if not overtaken(problem):
                raise
            LOG.warning("the last commit was refused, and its records are read again: %s", problem)
        finally:
            await self._consumer.__aexit__(KcliError if unread else kind)

    def _own(self) -> dict[TopicPartition, int]:
        """One past what was iterated over, of partitions that are still assigned."""
        self._note()
        assignment = self._consumer.assignment
        return {at: offset for at, offset in self._read.items() if at in assignment}

    # -- messages ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Message]:
        return self._messages

    def __next__(self) -> Message:
        """Waits for a message. Raises StopIteration at the end (`stop_at_end`), and what ended the consumer."""
        return next(self._messages)

    def _go_on(self) -> None:
        """A batch was iterated over: open the next one. Raises StopIteration at the end, and a partition's error in its
        place; a batch that is corrupt again and again, until a seek."""
        with self._turn:
            if self._messages.left():
                return  # another thread has opened it
            self._note()
            while not self._fetched:
                self._iterating = True
                if not self._thread.run(self._fetch()) and self._consumer.finished:
                    raise StopIteration
            piece, batch = self._fetched[0]
            if batch is not None:
                batch.give_to(self._messages, piece.topic, piece.partition)
            self._fetched.popleft()
            if batch is None and piece.error is not None:
                raise piece.error
            if batch is None:
                self._messages.drop()
                self._read[TopicPartition(piece.topic, piece.partition)] = piece.next_offset  # past markers, too

    async def _fetch(self) -> bool:
        """Poll, and keep what came: in one step of the loop, so that Ctrl-C in the wait for it loses nothing."""
        fetched = await self._consumer.poll()
        self._forget_gone()
        for piece in fetched:
            self._fetched.extend((piece, batch) for batch in (*piece.batches, None))
        return bool(fetched)

    def _note(self) -> None:
        """Remember how far the open batch was iterated over."""
        messages = self._messages
        at = TopicPartition(messages.topic, messages.partition)
        if messages.after >= 0 and at not in self._gone:
            self._read[at] = messages.after

    async def _give_up(self, ats: Iterable[TopicPartition]) -> None:
        """Partitions were revoked or lost: where we were says nothing any more, even if they come back."""
        for at in ats:
            self._gone.add(at)
            self._read.pop(at, None)

    def _forget_gone(self) -> None:
        for at in self._gone:
            self._drop(at)
        self._gone.clear()

    def _drop(self, at: TopicPartition | None = None) -> None:
        """Forget what was fetched and not iterated over, of one partition or of all."""
        self._note()
        if at is None or (self._messages.topic, self._messages.partition) == at:
            self._messages.drop()
        held = [] if at is None else [step for step in self._fetched if (step[0].topic, step[0].partition) != at]
        self._fetched = deque(held)

    def poll(self, timeout: float | None = None, max_bytes: int | None = None) -> list[Fetched]:
        """Batches, as `Consumer.poll` gives them: quicker than messages where many records come."""
        self._drop()
        self._iterating = False
        return self._thread.run(self._consumer.poll(timeout, max_bytes))

    @property
    def metrics(self) -> ConsumerMetrics:
        """As `Consumer.metrics`."""
        return self._thread.call(lambda: self._consumer.metrics)

    def fetch_states(self) -> dict[TopicPartition, FetchState]:
        """As `Consumer.fetch_states`."""
        return self._thread.call(self._consumer.fetch_states)

    # -- positions --------------------------------------------------------------------------------------------------

    @property
    def assignment(self) -> set[TopicPartition]:
        return self._thread.call(lambda: self._consumer.assignment)

    def position(self, at: TopicPartition) -> int | None:
        """The offset of the next record that is fetched; None while it is not known."""
        return self._thread.call(lambda: self._consumer.position(at))

    def seek(self, at: TopicPartition, to: Bound | int | OffsetAndMetadata) -> None:
        """Continue at an offset. Records that were fetched and not iterated over are dropped."""
        self._drop(at)
        self._thread.call(lambda: self._consumer.seek(at, to))
        self._read.pop(at, None)

    def pause(self, *what: TopicPartition | str) -> None:
        self._thread.call(lambda: self._consumer.pause(*what))

    def resume(self, *what: TopicPartition | str) -> None:
        self._thread.call(lambda: self._consumer.resume(*what))

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None) -> None:
        """Commit the group's next offsets; by default those after the records that were iterated over, or polled."""
        if offsets is None and self._iterating:
            offsets = self._thread.call(self._own)
        self._thread.run(self._consumer.commit(offsets))

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """The group's committed offsets, None for a partition without one."""
        return self._thread.run(self._consumer.committed(partitions))

    def group_metadata(self) -> GroupMetadata:
        """This member's place in its group, for `SyncProducer.send_offsets`."""
        return self._thread.call(self._consumer.group_metadata)
