"""Ten-line fakes: a log made of sealed batches, a broker that answers from it, a cluster that finds it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kcli.model import Node, TopicPartition
from kcli.proto import core
from kcli.proto.batch import seal
from kcli.proto.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kcli.proto.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kcli.proto.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)


async def until(condition: Callable[[], object]) -> None:
    """Wait for what must come soon."""
    for _ in range(5000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came")


MARKER_KEYS = {"abort": b"\0\0\0\0", "commit": b"\0\0\0\1", 99: b"\0\0\0\x63"}


def batch(
    base: int,
    values: Sequence[bytes | None],
    *,
    pid: int = -1,
    transactional: bool = False,
    marker: Any = None,
    epoch: int = 0,
    last: int | None = None,
) -> bytes:
    """A stored batch. `last` is the last offset where the tail was compacted away; values of None make holes."""
    builder = core.Builder()
    for value in values:
        key = MARKER_KEYS[marker] if marker is not None else None
        builder.append(1000 + base, key, value, ())
    count = builder.count
    sealed = seal(builder.take(), count, 1000 + base, 1000 + base, transactional=transactional or marker is not None)
    data = bytearray(sealed.data)
    data[0:8] = base.to_bytes(8, "big")
    data[12:16] = epoch.to_bytes(4, "big")
    if marker is not None:
        data[22] |= 32
    data[23:27] = ((base + count - 1 if last is None else last) - base).to_bytes(4, "big")
    data[43:51] = pid.to_bytes(8, "big", signed=True)
    data[17:21] = core.crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


class Log:
    """One partition: stored batches as (base, last, bytes), and what the broker says about it."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, int, bytes]] = []
        self.start = 0
        self.end = 0
        self.lso: int | None = None
        self.aborted: list[tuple[int, int]] = []
        self.epoch_ends: dict[int, tuple[int, int]] = {}
        self.errors: list[Any] = []  # codes, or (code, changes), of the next answers
        self.overrides: list[int] = []

    def add(self, data: bytes) -> Log:
        base = int.from_bytes(data[:8], "big")
        last = base + int.from_bytes(data[23:27], "big", signed=True)
        self.batches.append((base, last, data))
        self.end = last + 1
        return self

    def fill(self, count: int, size: int = 10) -> Log:
        for _ in range(count // size):
            self.add(batch(self.end, [b"%d" % n for n in range(self.end, self.end + size)]))
        return self

    def read(self, offset, limit):
        out, taken = b"", 0
        for _, last, data in self.batches:
            if last >= offset and (not out or taken + len(data) <= limit):
                out += data
                taken += len(data)
            elif out:
                break
        return out


class FakeBroker:
    """Answers Fetch, ListOffsets and OffsetForLeaderEpoch from logs; `hook(request)` may delay, raise or replace."""

    def __init__(self, node_id: int, logs: dict[TopicPartition, Log]) -> None:
        self.node_id = node_id
        self.logs = logs
        self.asked: list[Any] = []
        self.hook: Callable[[Any], Awaitable[object]] | None = None
        self.session = None
        self.top_error = 0
        self.sessions: dict[int, Any] = {}
        self.more = asyncio.Event()

    async def ask(self, request, *, timeout=None, lane=None, max_version=None):
        self.asked.append(request)
        if self.hook is not None:
            replaced = await self.hook(request)
            if replaced is not None:
                return replaced
        if isinstance(request, FetchRequest):
            return await self.fetch(request)
        if isinstance(request, ListOffsetsRequest):
            return self.list_offsets(request)
        assert isinstance(request, OffsetForLeaderEpochRequest)
        return self.epoch_end(request)

    @property
    def fetches(self) -> list[FetchRequest]:
        return [one for one in self.asked if isinstance(one, FetchRequest)]

    async def fetch(self, request):
        await asyncio.sleep(0)
        if self.top_error:
            return FetchResponse(error_code=self.top_error)
        full = request.session_epoch == 0
        wanted = {} if full else dict(self.sessions.get(request.session_id, {}))
        for topic in request.forgotten_topics_data:
            for partition in topic.partitions:
                wanted.pop((topic.topic, partition), None)
        for topic in request.topics:
            for ask in topic.partitions:
                wanted[topic.topic, ask.partition] = ask
        session = 7 if request.session_epoch >= 0 else 0
        self.sessions[session] = wanted
        rows = self.rows(request, wanted, full)
        if not rows and not full:
            self.more.clear()
            try:
                async with asyncio.timeout(request.max_wait_ms / 1000):  # wait_for can swallow a cancel before 3.12
                    await self.more.wait()
            except TimeoutError:
                pass
            rows = self.rows(request, wanted, full)
        answers = {}
        for name, row in rows:
            answers.setdefault(name, []).append(row)
        topics = [FetchableTopicResponse(topic=name, partitions=rows) for name, rows in answers.items()]
        return FetchResponse(session_id=session, responses=topics)

    def rows(self, request, wanted, full):
        rows, left = [], request.max_bytes
        for (name, number), ask in wanted.items():
            log = self.logs[TopicPartition(name, number)]
            row = PartitionData(partition_index=number, high_watermark=log.end, log_start_offset=log.start, records=b"")
            row.last_stable_offset = log.end if log.lso is None else log.lso
            row.aborted_transactions = [AbortedTransaction(producer_id=p, first_offset=o) for p, o in log.aborted]
            epoch, cut = log.epoch_ends.get(ask.last_fetched_epoch, (0, log.end))
            if log.errors:
                row.error_code = log.errors.pop(0)
            elif ask.last_fetched_epoch >= 0 and cut < ask.fetch_offset:
                row.diverging_epoch.epoch, row.diverging_epoch.end_offset = epoch, cut
            elif not log.start <= ask.fetch_offset <= log.end:
                row.error_code = 1
            else:
                row.records = log.read(ask.fetch_offset, min(left, ask.partition_max_bytes)) if left > 0 else b""
                left -= len(row.records)
            if full or row.records or row.error_code or row.diverging_epoch.end_offset >= 0:
                rows.append((name, row))
        return rows

    def list_offsets(self, request):
        topics = []
        for topic in request.topics:
            rows = []
            for ask in topic.partitions:
                log = self.logs[TopicPartition(topic.name, ask.partition_index)]
                row = ListOffsetsPartitionResponse(partition_index=ask.partition_index, leader_epoch=0)
                if log.overrides:
                    row.error_code = log.overrides.pop(0)
                end = log.end if log.lso is None or not request.isolation_level else log.lso
                row.offset = {-2: log.start, -1: end}.get(ask.timestamp, -1)
                if ask.timestamp >= 0:
                    row.offset = next((base for base, _, _ in log.batches if 1000 + base >= ask.timestamp), -1)
                rows.append(row)
            topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=rows))
        return ListOffsetsResponse(topics=topics)

    def epoch_end(self, request):
        results = []
        for topic in request.topics:
            rows = []
            for ask in topic.partitions:
                log = self.logs[TopicPartition(topic.topic, ask.partition)]
                epoch, end = log.epoch_ends.get(ask.leader_epoch, (ask.leader_epoch, log.end))
                rows.append(EpochEndOffset(partition=ask.partition, leader_epoch=epoch, end_offset=end))
            results.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=rows))
        return OffsetForLeaderEpochResponse(topics=results)


class FakeCluster:
    """`leaders` says who leads what; a leader that moved is -1 until looked up again."""

    def __init__(self, logs: dict[TopicPartition, Log], brokers: int = 1) -> None:
        self.logs = logs
        self.brokers = {n: FakeBroker(n, logs) for n in range(brokers)}
        self.leaders = {at: at.partition % brokers for at in logs}
        self.epochs = dict.fromkeys(logs, 0)
        self.forgotten: set[TopicPartition] = set()
        self.lookups = 0
        self.ids: dict[str, bytes] = {}
        self._version = 0
        self._seen: object = None

    async def leader(self, at):
        self.lookups += 1
        self.forgotten.discard(at)
        return self.brokers[self.leaders[at]]

    def leader_id(self, at):
        return -1 if at in self.forgotten else self.leaders[at]

    def leader_epoch(self, at):
        return self.epochs[at]

    def leaders_version(self) -> int:
        """Grows with what a test changes by hand, too."""
        now = (dict(self.leaders), dict(self.epochs), set(self.forgotten))
        if now != self._seen:
            self._version, self._seen = self._version + 1, now
        return self._version

    def leader_moved(self, at, leader_id=-1, leader_epoch=-1, endpoint: Node | None = None):
        if leader_id >= 0:
            self.leaders[at], self.epochs[at] = leader_id, leader_epoch
        else:
            self.forgotten.add(at)

    async def node(self, node_id):
        return self.brokers[node_id]

    def silencing(self) -> dict[int, float]:
        return {}

    def topic_id(self, topic):
        return self.ids.get(topic, bytes(16))
