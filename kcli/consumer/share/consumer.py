"""A member of a share group (KIP-932): many members process records of the same partition, one range at a time.

`poll` returns ranges that only this member may process until their locks expire. Each is accepted, released or
rejected, as a whole or in parts. There are no positions: the broker keeps the state of each record.
"""

from __future__ import annotations

import asyncio

from kcli.consumer.fetch.frames import PATIENCE
from kcli.consumer.fetch.unpacking import SMALL, unpacked
from kcli.consumer.share.member import ShareMember
from kcli.consumer.share.ranges import ACCEPT, GAP, KINDS, REJECT, RELEASE, RENEW, Outcome, Range
from kcli.consumer.share.reader import ShareReader
from kcli.consumer.subscription import name_missing
from kcli.errors import Closed, UsageError
from kcli.metrics.observer import ConsumerObserver
from kcli.proto import core
from kcli.tasks import shielded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.consumer.fetch.lateness import Lateness
    from kcli.consumer.share.chunk import Acquired, Arrived
    from kcli.consumer.share.settings import ShareSettings
    from kcli.errors import KcliError
    from kcli.metrics.observer import Observer
    from kcli.metrics.values import ConsumerMetrics
    from kcli.model import Cluster, TopicPartition
    from kcli.proto.batch import Batch
    from kcli.settings import ConsumerSettings

RENEWS_SINCE = 2
SHARE_ACKNOWLEDGE = 79
LAST_LEAVE = 5.0  # seconds to leave the group if the client is closed before the consumer


class ShareConsumer:
    """`on_outcome`, if set, is called with the results of acknowledgements as brokers return them; `on_notice` with
    sentences about a blocked event loop."""

    def __init__(
        self, cluster: Cluster, settings: ConsumerSettings, share: ShareSettings, observer: Observer | None = None
    ) -> None:
        if not share.group:
            raise UsageError("a share consumer needs the name of its group")
        self._cluster = cluster
        self._share = share
        self._reader = ShareReader(cluster, settings, share, ConsumerObserver(observer, share.group))
        self._reader.outcomes = self._note_outcomes
        self._member = ShareMember(cluster, settings, share, self._assigned)
        self._reader.member_id = self._member.member_id
        self._out: list[Acquired] = []
        self._failures: list[Outcome] = []
        self._cut_off: dict[TopicPartition, int] = {}  # consecutive responses that began with a cut-off batch
        self._lateness: Lateness | None = None
        self._unpacking: asyncio.Future[None] | None = None  # a thread is decompressing
        self._closed = self._client_closed = False
        self._looking: asyncio.Task[None] | None = None  # looks for missing topics
        self.on_outcome: Callable[[list[Outcome]], None] | None = None
        self.on_notice: Callable[[str], None] | None = None

    async def __aenter__(self) -> ShareConsumer:
        return self

    async def __aexit__(self, kind: object = None, *_: object) -> None:
        """Close. If an exception left the block, the records of the last poll are released."""
        if kind is not None:
            for acquired in self._out:
                self._decide_rest(acquired, RELEASE)
        await self.close()

    # -- selection --------------------------------------------------------------------------------------------------

    async def subscribe(self, topics: Sequence[str]) -> None:
        """Join the group for these topics; a second call changes the subscription."""
        self._check()
        await self._member.start(topics)
        self._stop_looking()
        looking = name_missing(self._cluster, tuple(topics), self._say)
        self._looking = asyncio.create_task(looking, name="look for missing topics")
        if self._lateness is None:
            from kcli.consumer.fetch.lateness import Lateness

            self._lateness = Lateness(self._say, self._consequence)

    def _stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    def _say(self, text: str) -> None:
        if self.on_notice is not None:
            self.on_notice(text)

    def _consequence(self) -> str:
        """Describe the consequence of a blocked event loop."""
        return (
            "without a heartbeat for the group's session timeout this member leaves the group, and records that "
            f"it has held for more than {self._reader.lock_timeout:g} s go to other members"
        )

    def _assigned(self) -> None:
        self._reader.member_id = self._member.member_id
        if self._member.failed is not None:
            self._reader.fail(self._member.failed)
        self._reader.assign(self._member.assigned)

    @property
    def assignment(self) -> set[TopicPartition]:
        """The partitions whose records may be delivered; other members may have the same ones."""
        return set(self._member.assigned.values())

    @property
    def member_id(self) -> str:
        return self._member.member_id

    @property
    def member_epoch(self) -> int:
        """-1 while there is no membership."""
        return self._member.epoch

    @property
    def drained(self) -> bool:
        """Whether no assigned partition had records to deliver when last asked. Records that other members hold may
        come back."""
        return self._member.settled and self._reader.drained

    @property
    def metrics(self) -> ConsumerMetrics:
        """A snapshot of the counters, including what is buffered. Share groups do not assign partitions exclusively, so
        rebalances are not counted."""
        metrics, waiting = self._reader.observer.metrics.copy(), self._reader.waiting
        metrics.buffered_bytes, metrics.buffered_partitions = sum(arrived.size for arrived in waiting), len(waiting)
        return metrics

    # -- records ----------------------------------------------------------------------------------------------------

    async def poll(self, timeout: float | None = None, max_records: int | None = None) -> list[Acquired]:
        """Return what could be acquired, waiting up to `timeout` seconds (None: forever) for the first records.

        Accepts the records of the last poll, or with `explicit` raises UsageError if some of them were not
        acknowledged. A cancelled poll takes nothing. Raises the error that ended the membership, and Closed after
        close.
        """
        self._check()
        self._finish_last()
        reader = self._reader
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        reader.most = self._share.max_records if max_records is None else max_records
        reader.demand = True
        reader.wake()
        try:
            while True:
                self._check()
                reader.arrived.clear()
                await self._decompress()
                got = self._hand_out()
                if got:
                    return got
                try:
                    async with asyncio.timeout_at(deadline):
                        await reader.arrived.wait()
                except TimeoutError:
                    return self._hand_out()
        finally:
            reader.demand = False

    async def _decompress(self) -> None:
        """Decompress what is about to be returned, in a thread if large, so that the loop can send heartbeats."""
        settings = self._reader.settings
        if not settings.decompress:
            return
        tried: set[int] = set()  # a broken one stays compressed: the reader gets the error
        while True:
            if self._unpacking is not None:
                await shielded(self._unpacking)  # a cancelled poll leaves it to the next one
            packed = [batch for arrived in self._reader.waiting for batch in arrived.compressed(settings)]
            large = [batch for batch in packed if id(batch) not in tried and not unpacked(batch, SMALL)]
            if not large:
                return
            tried.update(map(id, large))
            work = asyncio.get_running_loop().run_in_executor(None, _unpack, large)
            self._unpacking = work
            work.add_done_callback(self._unpacked)

    def _unpacked(self, work: asyncio.Future[None]) -> None:
        self._unpacking = None

    def _hand_out(self) -> list[Acquired]:
        settings = self._reader.settings
        got: list[Acquired] = []
        for arrived in self._reader.taken():
            opened = arrived.open(settings)
            opened[0].error = opened[0].error or self._cut(arrived)
            for acquired in opened:
                for first, last in acquired.gaps:
                    self._decide(acquired, first, last, GAP)
                for first, last in acquired.unreached:
                    self._decide(acquired, first, last, RELEASE)
                for first, last in acquired.unreadable:
                    self._decide(acquired, first, last, REJECT if settings.skip_corrupt else RELEASE)
                if acquired.batches or acquired.error is not None:
                    got.append(acquired)
        self._out = [acquired for acquired in got if acquired.undecided]
        batches = [batch for acquired in got for batch in acquired.batches]
        self._reader.observer.handed_out(len(batches), core.shown_records(batches))
        return got

    def _cut(self, arrived: Arrived) -> KcliError | None:
        """Return the error at the third consecutive response that begins with a cut-off batch; before that, retry after
        a pause."""
        error = arrived.cut_off(self._reader.settings)
        if error is None:
            self._cut_off.pop(arrived.at, None)
            return None
        self._reader.later(arrived.at, error)
        self._cut_off[arrived.at] = times = self._cut_off.get(arrived.at, 0) + 1
        return error if times >= PATIENCE else None

    def _finish_last(self) -> None:
        out, self._out = self._out, []
        for acquired in out:
            if not acquired.undecided:
                continue
            if self._share.explicit:
                self._out = out
                place = f"{acquired.topic} partition {acquired.partition}, offset {acquired.undecided.ranges()[0][0]}"
                raise UsageError(f"{place} and later: acknowledge every record before the next poll")
            self._decide_rest(acquired, ACCEPT)

    # -- acknowledging ----------------------------------------------------------------------------------------------

    def acknowledge(
        self, got: Acquired, kind: str = "accept", first: int | None = None, last: int | None = None
    ) -> None:
        """Acknowledge records: "accept" (processed), "release" (deliver again, to any member) or "reject" (never
        deliver again).

        Without bounds it applies to all records of `got` that are not acknowledged yet, otherwise to offsets `first` to
        `last`, inclusive. It is sent with the next poll or `commit`. Raises UsageError for records already
        acknowledged.
        """
        self._check()
        if kind not in KINDS:
            raise UsageError(f"{kind}: expected accept, release or reject")
        if first is None and last is None:
            self._decide_rest(got, KINDS[kind])
        else:
            low = got.first if first is None else first
            self._decide(got, low, got.last if last is None else last, KINDS[kind])

    def hold(self, got: Acquired) -> None:
        """Postpone the acknowledgement: the next poll does not require it. The records stay ours until their locks
        expire; `close` releases them."""
        self._out = [acquired for acquired in self._out if acquired is not got]

    async def renew(self, got: Sequence[Acquired]) -> bool:
        """Renew the locks of these records. Returns False if the broker cannot (before 4.2). Raises like `commit`;
        `on_outcome` reports whether it was in time."""
        self._check()
        for node in {acquired.node for acquired in got}:
            broker = await self._cluster.node(node)
            if (await broker.versions()).get(SHARE_ACKNOWLEDGE, (0, 0))[1] < RENEWS_SINCE:
                return False
        for acquired in got:
            for first, last in acquired.undecided.ranges():
                self._reader.fetchers[acquired.node].acks.add(acquired.place, Range(first, last, RENEW))
        await self._settled()
        deadline = asyncio.get_running_loop().time() + self._reader.lock_timeout
        for acquired in got:
            acquired.deadline = deadline
        return True

    async def commit(self, timeout: float | None = None) -> list[Outcome]:
        """Send all acknowledgements and wait for the results.

        Returns those rejected or unknown since the last commit: empty on success. In implicit mode the records of the
        last poll are accepted. Raises TimeoutError, and the error that ended the membership.
        """
        self._check()
        if not self._share.explicit:
            self._finish_last()
        async with asyncio.timeout(timeout):
            await self._settled()
        failures, self._failures = self._failures, []
        return failures

    async def _settled(self) -> None:
        reader = self._reader
        while any(fetcher.acks.busy for fetcher in reader.fetchers.values()):
            self._check()
            reader.acknowledged.clear()
            for fetcher in reader.fetchers.values():
                fetcher.acks.urgent = fetcher.acks.urgent or bool(fetcher.acks.pending)
            reader.wake()
            await reader.acknowledged.wait()

    def _decide_rest(self, got: Acquired, kind: int) -> None:
        for first, last in got.undecided.ranges():
            self._decide(got, first, last, kind)

    def _decide(self, got: Acquired, first: int, last: int, kind: int) -> None:
        got.undecided.decide(first, last)
        self._reader.fetchers[got.node].acks.add(got.place, Range(first, last, kind))

    def _note_outcomes(self, outcomes: list[Outcome]) -> None:
        self._failures += [outcome for outcome in outcomes if outcome.error is not None]
        if self.on_outcome is not None:
            self.on_outcome(outcomes)

    # -- the end ----------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        if self._closed:
            raise Closed("the client was closed" if self._client_closed else "the share consumer was closed")
        if self._reader.failure is not None:
            raise self._reader.failure

    async def close(self, timeout: float = 30.0) -> list[Outcome]:
        """Send the last acknowledgements (in implicit mode accepting the last poll), release the rest, and leave.

        Returns the acknowledgements rejected or unknown since the last commit. A second call returns none.
        """
        if self._closed:
            return []
        if not self._share.explicit and self._reader.failure is None:
            self._finish_last()
        self._closed = True
        self._stop_looking()
        self._reader.arrived.set()
        if self._lateness is not None:
            self._lateness.close()
        try:
            await self._reader.close(timeout)
        finally:
            await self._member.close()
        failures, self._failures = self._failures, []
        return failures

    def login_failed(self, text: str, error: KcliError | None) -> None:
        """Report that the client cannot log in at the moment; an `error` means that it gave up."""
        if not self._closed:
            self._say(text)
            if error is not None:
                self._reader.fail(error)

    def forked(self, error: KcliError) -> None:
        """Refuse all calls, because this is a copy in a forked child."""
        self._reader.failure = error

    async def client_closed(self) -> None:
        """Close because the client is closed first: the records of the last poll are released."""
        if not self._closed:
            self._client_closed = True
            for acquired in self._out:
                self._decide_rest(acquired, RELEASE)
            self._out = []
            await self.close(LAST_LEAVE)


def _unpack(batches: list[Batch]) -> None:
    """Decompress these batches, in a thread."""
    for batch in batches:
        unpacked(batch)
