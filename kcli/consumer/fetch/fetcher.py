"""A task per broker: sends the next fetch while the last response is in use.

Every turn computes the request from the current state. A response belongs to the generation and offset of its request,
and is discarded if either changed. An error of one partition never hides records of another.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.offsets import ISOLATION
from kcli.backoff import LEAST, Backoff, Floor, spread
from kcli.consumer.fetch import frames
from kcli.consumer.fetch.chunk import Chunk
from kcli.consumer.fetch.cursor import READY, VALIDATING
from kcli.consumer.fetch.fetch_session import Ask, FetchSession
from kcli.errors import (
    BrokerError,
    ConnectError,
    EncodeError,
    KcliError,
    TopicRecreated,
    UnsupportedVersion,
    cannot_connect,
)
from kcli.model import Node, TopicPartition
from kcli.proto import core
from kcli.proto.batch import CorruptBatch
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kcli.proto.schema import NO_ID
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.consumer.fetch.cursor import Cursor
    from kcli.consumer.fetch.engine import FetchEngine
    from kcli.consumer.fetch.fetch_session import Plan
    from kcli.grammar.bound import Bound
    from kcli.proto.buffer import Buffer
    from kcli.proto.messages.fetch import FetchResponse, PartitionData

    Asked = dict[TopicPartition, tuple[Cursor, int, int]]
else:
    from kcli.grammar.bound import Bound

LOG = Log("consumer.fetch")
NAMES_ONLY = 12
"""The last Fetch version that names topics; from 13 on it uses ids (KIP-516)."""
LARGE = 16 * 1024
"""Average record size in bytes from which a response may be larger."""
AT_ONCE = {code.number for code in (codes.FETCH_SESSION_ID_NOT_FOUND, codes.INVALID_FETCH_SESSION_EPOCH)}


class Fetcher:
    """The fetcher of one broker. `idle` while it has nothing to fetch; `full` if that is because of buffered chunks
    with `held` bytes."""

    def __init__(self, reader: FetchEngine, node: int) -> None:
        self.reader = reader
        self.node = node
        self.wake = asyncio.Event()
        self.idle = False
        self.full = False
        self.held = 0
        self.session = FetchSession()
        self._rank: dict[TopicPartition, int] = {}
        self._answers = 0
        self._floor = Floor(LEAST)  # between responses that bring nothing, however quickly they arrive
        self._pauses = Backoff(0.1, 1.0)  # between responses that end the session
        self._tells_epochs = True

    async def run(self) -> None:
        """Run forever. The event is cleared before the state is read, so changes in between are seen in the
        next turn."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                self.wake.clear()
                now = loop.time()
                due, again = self.reader.work(self.node, now)
                if due:
                    await self._turn(due)
                    continue
                self.idle = True
                try:
                    async with asyncio.timeout(None if again is None else max(again - now, 0)):
                        await self.wake.wait()
                except TimeoutError:
                    continue
                finally:
                    self.idle = False
        finally:
            if self.session.open:
                await self._farewell()

    async def _turn(self, due: list[Cursor]) -> None:
        """Send one request and handle its response."""
        reader = self.reader
        rank = self._rank
        due.sort(key=lambda cursor: rank.get(cursor.at, 0))  # partitions that had data last time come last
        for cursor in due:
            cursor.topic_id = self._topic_id(cursor)
        due = [cursor for cursor in due if cursor.state == READY]
        by_id = all(cursor.topic_id != NO_ID for cursor in due)
        wanted = {
            cursor.at: Ask(
                cursor.fetch_at,
                cursor.max_bytes,
                reader.cluster.leader_epoch(cursor.at),
                cursor.fetch_epoch if self._tells_epochs else -1,
                cursor.topic_id,
            )
            for cursor in due
        }
        asked = {cursor.at: (cursor, cursor.generation, cursor.fetch_at) for cursor in due}
        request = self._request(self.session.plan(wanted, by_id=by_id), wanted)
        timeout = reader.settings.fetch_max_wait + reader.settings.request_timeout
        try:
            broker = await reader.cluster.node(self.node)
            if by_id:
                answer = await broker.ask(request, timeout=timeout)
            else:
                answer = await broker.ask(request, timeout=timeout, max_version=NAMES_ONLY)
        except EncodeError:  # brokers before 2.7 do not accept record epochs; nothing was sent
            if not self._tells_epochs:
                raise
            self._tells_epochs = False
            self.session.broke()
            return
        except UnsupportedVersion:
            raise
        except KcliError as error:
            if cannot_connect(error):
                raise
            self._broke(asked, error)
            return
        await self._answered(asked, answer)

    def _topic_id(self, cursor: Cursor) -> bytes:
        """Return the topic's id. A topic with a new id is a different topic, in which these offsets mean nothing."""
        now = self.reader.cluster.topic_id(cursor.at.topic)
        if NO_ID != cursor.topic_id != now != NO_ID:
            where = f"{cursor.at.topic} partition {cursor.at.partition}"
            problem = f"the topic was deleted and created again; position {cursor.position} belongs to the old one"
            self.reader.recreated(cursor, TopicRecreated(f"{where}: {problem}"))
        return now if now != NO_ID else cursor.topic_id

    def _request(self, plan: Plan, wanted: dict[TopicPartition, Ask]) -> FetchRequest:
        settings = self.reader.settings
        topics: dict[str, FetchTopic] = {}
        for at in plan.send:
            ask = wanted[at]
            topic = topics.get(at.topic)
            if topic is None:
                topic = topics[at.topic] = FetchTopic(topic=at.topic, topic_id=ask.topic_id)
            topic.partitions.append(
                FetchPartition(
                    partition=at.partition,
                    current_leader_epoch=ask.leader_epoch,
                    fetch_offset=ask.offset,
                    last_fetched_epoch=ask.last_epoch,
                    partition_max_bytes=ask.max_bytes,
                )
            )
        forgotten: dict[tuple[str, bytes], ForgottenTopic] = {}
        for at, topic_id in plan.forget:
            gone = forgotten.setdefault((at.topic, topic_id), ForgottenTopic(topic=at.topic, topic_id=topic_id))
            gone.partitions.append(at.partition)
        cursors = [cursor for at in wanted if (cursor := self.reader.cursors.get(at)) is not None]
        held = sum(cursor.buffered for cursor in cursors)
        cut_off = max((cursor.max_bytes for cursor in cursors if cursor.fruitless), default=1)  # a batch of theirs was
        return FetchRequest(
            max_wait_ms=int(settings.fetch_max_wait * 1000) if wanted else 0,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=max(min(self.reader.fetch_bytes, self.reader.share - held), cut_off),
            isolation_level=ISOLATION[settings.isolation],
            session_id=plan.session_id,
            session_epoch=plan.epoch,
            topics=list(topics.values()),
            forgotten_topics_data=list(forgotten.values()),
            rack_id=self.reader.rack,
        )

    async def _farewell(self) -> None:
        """Close the session on the broker if that takes only a moment; it would expire there anyway."""
        try:
            async with asyncio.timeout(0.2):
                broker = await self.reader.cluster.node(self.node)
                await broker.ask(self._request(self.session.farewell(), {}))
        except (KcliError, TimeoutError):
            return

    # -- responses --------------------------------------------------------------------------------------------------

    async def _answered(self, asked: Asked, answer: FetchResponse) -> None:
        names = {cursor.topic_id: at.topic for at, (cursor, _, _) in asked.items()}
        rows: dict[TopicPartition, PartitionData] = {}
        for topic in answer.responses:
            name = topic.topic or names.get(topic.topic_id, "")
            for row in topic.partitions:
                rows[TopicPartition(name, row.partition_index)] = row
        if not self.session.answered(answer.error_code, answer.session_id, rows):
            if answer.error_code not in AT_ONCE or self._pauses.failures:  # E11
                await self._pauses.pause()
            else:
                self._pauses.next()  # counts a failure; a new session begins at once
            return
        self._pauses.reset()
        self._answers += 1
        for at, row in rows.items():
            cursor, generation, offset = asked.get(at, (None, 0, 0))
            if (
                cursor is None
                or self.reader.cursors.get(at) is not cursor
                or cursor.generation != generation
                or cursor.fetch_at != offset
                or cursor.state != READY
            ):
                continue
            if row.error_code:
                self._refused(cursor, row, answer)
            else:
                self._take(cursor, row)
        if not any(row.records for row in rows.values()):
            await asyncio.sleep(self._floor.wait(asyncio.get_running_loop().time()))

    def _take(self, cursor: Cursor, row: PartitionData) -> None:
        """Take the data of a partition, if there is any."""
        reader = self.reader
        now = asyncio.get_running_loop().time()
        cut = row.diverging_epoch
        if cut.end_offset >= 0:
            cursor.state = VALIDATING
            reader.truncated(cursor, cut.end_offset, cut.epoch)
            return
        if row.preferred_read_replica >= 0 and row.preferred_read_replica != self.node:
            cursor.replica, cursor.replica_until = row.preferred_read_replica, now + reader.replica_holds
            reader.changed()
        cursor.stable, cursor.watermark = row.last_stable_offset, row.high_watermark
        records = row.records
        if not records:
            cursor.succeeded()
            return
        following, epoch, whole = core.ends(records)
        if following <= cursor.fetch_at:
            self._took_nothing(cursor, row, records, now)
            return
        row.records = memoryview(records)[:whole]
        self._keep(cursor, Chunk(row, cursor.fetch_at, following, epoch))

    def _keep(self, cursor: Cursor, chunk: Chunk) -> None:
        cursor.succeeded()
        cursor.fruitless = 0
        settings, records = self.reader.settings, chunk.following - chunk.fetched_at
        large = chunk.size >= records * LARGE
        cursor.max_bytes = settings.partition_most_bytes if large else settings.partition_max_bytes
        cursor.take(chunk, chunk.following, chunk.epoch)
        self.reader.observer.fetched(cursor.at, self.node, chunk.size)
        self._rank[cursor.at] = self._answers
        self.reader.arrived.set()

    def _took_nothing(self, cursor: Cursor, row: PartitionData, records: Buffer, now: float) -> None:
        """Handle a response without a batch past the position: an older one, or only the beginning of one, from a
        broker that enforces the size limit. It is retried twice; after that, or if no batch can begin like this, it
        counts as corrupt."""
        wrong = frames.impossible(records)
        if wrong is None:
            cursor.fruitless += 1
            if cursor.fruitless < frames.PATIENCE:
                size = frames.wanted(records)
                cursor.max_bytes = max(cursor.max_bytes, size)
                cursor.failed_once(now, "the fetched batch is cut off", at_once=size > len(records))
                return
            wrong = frames.fruitless(records)
        following = frames.behind(records, cursor.fetch_at, row.high_watermark)
        broken = CorruptBatch(wrong, cursor.fetch_at, None, following)
        self._keep(cursor, Chunk(row, cursor.fetch_at, following, -1, broken))

    def _refused(self, cursor: Cursor, row: PartitionData, answer: FetchResponse) -> None:
        """Handle the error of one partition."""
        reader = self.reader
        code = codes.of(row.error_code)
        now = asyncio.get_running_loop().time()
        about = f"{cursor.at.topic} partition {cursor.at.partition}"
        error = BrokerError(code, about, api=FetchRequest.api_key, topic=cursor.at.topic)
        if cursor.replica == self.node:  # a follower's error is checked with the leader
            cursor.replica = -1
            cursor.failed_once(now, error, at_once=True)
            reader.changed()
        elif code is codes.OFFSET_OUT_OF_RANGE:
            if cursor.chunks or cursor.pieces:  # good records are returned first
                cursor.failed_once(now, error)
            else:
                cursor.reset(Bound("outside"))
                reader.look_up()
        elif code.retriable or code is codes.UNKNOWN_SERVER_ERROR:
            hint = row.current_leader
            known = hint.leader_id >= 0 and hint.leader_epoch > reader.cluster.leader_epoch(cursor.at)
            if known:
                ends = {end.node_id: Node(end.node_id, end.host, end.port, end.rack) for end in answer.node_endpoints}
                endpoint = ends.get(hint.leader_id)
                reader.cluster.leader_moved(cursor.at, hint.leader_id, hint.leader_epoch, endpoint)
            elif code.forget == "leader":
                reader.cluster.leader_moved(cursor.at)
            self._later(cursor, now, error, at_once=known)
            reader.changed()
        else:
            reader.fail(cursor, error)

    def _broke(self, asked: Asked, error: KcliError) -> None:
        """Handle a request without a response: discard the leader, and retry all its partitions a little later."""
        self.session.broke()
        now, together = asyncio.get_running_loop().time(), spread()  # so that all return in one request
        for at, (cursor, generation, _) in asked.items():
            if self.reader.cursors.get(at) is not cursor or cursor.generation != generation:
                continue
            if cursor.replica == self.node:
                cursor.replica = -1
            elif isinstance(error, (ConnectError, BrokerError)):
                self.reader.cluster.leader_moved(at)
            self._later(cursor, now, error, together=together)
        self.reader.changed()

    def _later(
        self, cursor: Cursor, now: float, error: KcliError, *, at_once: bool = False, together: float | None = None
    ) -> None:
        """Retry after a pause; if that has gone on for two request timeouts, report it."""
        cursor.failed_once(now, error, together, at_once=at_once)
        LOG.info("%s[%d]: fetched again after a pause: %s", *cursor.at, error)
        self.reader.observer.retried(cursor.at, cursor.attempts, str(error))
        if not self.reader.patient(cursor, now):
            self.reader.fail(cursor, error)
