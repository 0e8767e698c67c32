"""A task per broker that leads partitions of a share group's member: one request at a time, acquiring only on demand.

The session epoch counts every request, so fetches and acknowledgements take turns. Nothing is fetched ahead of a poll,
because a record's lock starts when it is acquired. Acknowledgements are sent with the next fetch.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.backoff import LEAST, Backoff, Floor
from kcli.consumer.share.acknowledging import Acknowledging
from kcli.consumer.share.chunk import Arrived
from kcli.errors import BrokerError, Closed, DecodeError, KcliError, UnsupportedVersion, cannot_connect
from kcli.model import Node
from kcli.proto.messages.share_fetch import (
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.share.acknowledging import Plan
    from kcli.consumer.share.chunk import Place
    from kcli.consumer.share.engine import ShareEngine
    from kcli.consumer.share.ranges import Range
    from kcli.model import TopicPartition
    from kcli.proto.messages.share_fetch import PartitionData, ShareFetchResponse

    Ranges = dict[Place, list[Range]]

SESSION_OVER = (codes.SHARE_SESSION_NOT_FOUND, codes.INVALID_SHARE_SESSION_EPOCH, codes.SHARE_SESSION_LIMIT_REACHED)
BATCH_OPTIMIZED, RECORD_LIMIT = 0, 1  # share_acquire_mode


class ShareFetcher:
    """`buffer` holds what arrived and was not returned yet; `empty` the partitions without records when last asked."""

    def __init__(self, reader: ShareEngine, node: int) -> None:
        self.reader = reader
        self.node = node
        self.wake = asyncio.Event()
        self.buffer: list[Arrived] = []
        self.empty: set[Place] = set()
        self.acks = Acknowledging(reader, node)
        self._floor = Floor(LEAST)  # between responses that bring nothing, however quickly they arrive
        self._pauses = Backoff(reader.settings.retry_backoff, reader.settings.retry_backoff_max)
        self._ended = asyncio.Event()

    async def run(self) -> None:
        """Run until the reader closes. The event is cleared before the state is read, so changes in between are seen
        next time."""
        try:
            await self._turns()
        finally:
            self._ended.set()

    async def finish(self) -> None:
        """Wait for the request in flight, give back what it brought, and end the session."""
        self.wake.set()
        await self._ended.wait()
        if self.reader.failure is None:
            self.buffer.clear()  # the end of the session releases it
            await self.acks.close()
        else:
            self.acks.abandon()

    async def _turns(self) -> None:
        while not self.reader.closing:
            self.wake.clear()
            wanted = self.reader.wanted(self.node)
            try:
                if self.reader.demand and wanted and not self.buffer and not self.acks.urgent:
                    await self._fetch(wanted)
                elif self.acks.pending and (self.acks.urgent or not wanted or self.buffer):
                    await self._acknowledge()
                elif self.acks.session.open and not wanted and self.acks.session.surplus(()):
                    await self._fetch({})
                else:
                    await self.wake.wait()
                    continue
                self._pauses.reset()
            except Again as again:
                if self._pauses.failures or not again.at_once:
                    await self._pauses.pause()
                else:
                    self._pauses.next()  # counts a failure, and tries again at once
            finally:
                self.acks.turn_over()

    # -- fetching ---------------------------------------------------------------------------------------------------

    async def _fetch(self, wanted: dict[Place, TopicPartition]) -> None:
        """Send a ShareFetch with the pending acknowledgements, and take its records."""
        acks = self.acks
        acked = acks.take() if acks.session.open else {}
        plan = acks.session.plan(wanted, acked)
        settings = self.reader.settings
        timeout = settings.fetch_max_wait + settings.request_timeout
        loop = asyncio.get_running_loop()
        try:
            broker = await self.reader.cluster.node(self.node)
            answer = await broker.ask(self._request(plan, acked, bool(wanted)), timeout=timeout, lane=acks.lane)
        except asyncio.CancelledError:
            acks.cancelled(acked)
            raise
        except UnsupportedVersion:
            raise
        except KcliError as error:
            if cannot_connect(error):
                raise
            self._broke(acked, wanted, error)
            raise Again from error
        received = loop.time()
        code = codes.of(answer.error_code)
        if code:
            acks.session_refused(acked, code, answer.error_message)
            raise Again(at_once=code in SESSION_OVER)
        acks.session.answered()
        lock = answer.acquisition_lock_timeout_ms / 1000
        self.reader.lock_timeout = lock or self.reader.lock_timeout
        rows = {
            (bytes(topic.topic_id), row.partition_index): row for topic in answer.responses for row in topic.partitions
        }
        acks.answered(
            acked, {place: (row.acknowledge_error_code, row.acknowledge_error_message) for place, row in rows.items()}
        )
        self._take(wanted, rows, answer, received + self.reader.lock_timeout)
        await acks.look_into_refusals()
        if not any(row.acquired_records for row in rows.values()):
            await asyncio.sleep(self._floor.wait(loop.time()))

    def _request(self, plan: Plan, acked: Ranges, fetch: bool) -> ShareFetchRequest:
        reader = self.reader
        settings, most = reader.settings, reader.most
        topics: dict[bytes, FetchTopic] = {}
        for place in plan.send:
            topic = topics.setdefault(place[0], FetchTopic(topic_id=place[0]))
            batches = [
                AcknowledgementBatch(first_offset=span.first, last_offset=span.last, acknowledge_types=[span.kind])
                for span in acked.get(place, ())
            ]
            topic.partitions.append(FetchPartition(partition_index=place[1], acknowledgement_batches=batches))
        forgotten: dict[bytes, ForgottenTopic] = {}
        for topic_id, partition in plan.forget:
            forgotten.setdefault(topic_id, ForgottenTopic(topic_id=topic_id)).partitions.append(partition)
        return ShareFetchRequest(
            group_id=reader.share.group,
            member_id=reader.member_id,
            share_session_epoch=plan.epoch,
            max_wait_ms=int(settings.fetch_max_wait * 1000) if fetch else 0,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=settings.fetch_max_bytes,
            max_records=most,
            batch_size=most,
            share_acquire_mode=RECORD_LIMIT if reader.share.exact else BATCH_OPTIMIZED,
            topics=list(topics.values()),
            forgotten_topics_data=list(forgotten.values()),
        )

    def _take(
        self,
        wanted: dict[Place, TopicPartition],
        rows: dict[Place, PartitionData],
        answer: ShareFetchResponse,
        deadline: float,
    ) -> None:
        for place, at in wanted.items():
            row = rows.get(place)
            if row is not None and row.error_code:
                self._refused(at, row, answer)
            elif row is not None and row.acquired_records:
                self.reader.well(at)
                self.empty.discard(place)
                self.acks.given_again(
                    place, [(record.first_offset, record.last_offset) for record in row.acquired_records]
                )
                self.reader.observer.fetched(at, self.node, len(row.records or b""))
                self.buffer.append(Arrived(at, place, self.node, row, deadline))
            else:
                self.reader.well(at)
                self.empty.add(place)
        self.reader.arrived.set()

    def _refused(self, at: TopicPartition, row: PartitionData, answer: ShareFetchResponse) -> None:
        """Handle the error of one partition, which never hides records of another."""
        reader = self.reader
        code = codes.of(row.error_code)
        about, message = f"{at.topic} partition {at.partition}", row.error_message or None
        group, api = reader.share.group, ShareFetchRequest.api_key
        error = BrokerError(code, about, message, api=api, topic=at.topic, group=group)
        if not code.retriable and code is not codes.UNKNOWN_SERVER_ERROR:
            reader.fail(error)
            return
        hint = row.current_leader
        known = hint.leader_id >= 0 and hint.leader_epoch > reader.cluster.leader_epoch(at)
        if known:
            ends = {end.node_id: Node(end.node_id, end.host, end.port, end.rack) for end in answer.node_endpoints}
            reader.cluster.leader_moved(at, hint.leader_id, hint.leader_epoch, ends.get(hint.leader_id))
        elif code.forget == "leader":
            reader.cluster.leader_moved(at)
        reader.later(at, error, at_once=known)

    def _broke(self, acked: Ranges, wanted: dict[Place, TopicPartition], error: KcliError) -> None:
        """Handle a request without a response: the result at the broker is unknown. Records that it acquired for us are
        released when it notices the lost connection, or when the locks expire."""
        if isinstance(error, Closed):
            raise error
        self.acks.lost(acked, error, sent=getattr(error, "sent", False) or isinstance(error, DecodeError))
        for at in wanted.values():
            self.reader.cluster.leader_moved(at)
            self.reader.later(at, error)

    # -- acknowledging without fetching -----------------------------------------------------------------------------

    async def _acknowledge(self) -> None:
        """Send pending acknowledgements without acquiring records. If the session is over, open it first: that request
        must not acknowledge anything, and fetches nothing."""
        if not self.acks.session.open:
            await self._fetch({})
        if not await self.acks.send():
            raise Again(at_once=True)


class Again(Exception):
    """A temporary failure: try again later."""

    def __init__(self, *, at_once: bool = False) -> None:
        super().__init__()
        self.at_once = at_once
