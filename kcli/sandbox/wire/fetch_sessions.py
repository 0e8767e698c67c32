"""Fetch sessions (KIP-227): a reader names its partitions once, then only what changed; the broker answers only what
changed. Epoch 0 opens, -1 closes or does without, every other one counts up."""

from __future__ import annotations

from collections.abc import Iterator

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.fetch import FetchPartition, FetchRequest, PartitionData

Key = tuple[str, bytes, int]  # topic name (below version 13), topic id (from 13 on), partition

MOST_SESSIONS = 1000
LAST_EPOCH = 0x7FFFFFFF


class FetchSession:
    """The partitions of one reader, in the order in which they are served, and the last sent ends of each."""

    def __init__(self, session_id: int, by_id: bool) -> None:
        self.id = session_id
        self.by_id = by_id
        self.epoch = 1  # the one expected next
        self.partitions: dict[Key, FetchPartition] = {}
        self._sent: dict[Key, tuple[int, int, int]] = {}

    def update(self, request: FetchRequest) -> None:
        for asked in request.topics:
            for partition in asked.partitions:
                self.partitions[(asked.topic, asked.topic_id, partition.partition)] = partition
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                self.partitions.pop((topic.topic, topic.topic_id, index), None)
                self._sent.pop((topic.topic, topic.topic_id, index), None)

    def is_news(self, key: Key, row: PartitionData) -> bool:
        """Whether an incremental answer must carry this row; notes it as told. A partition with data goes to the end
        of the queue, so that none starves the others."""
        ends = (row.high_watermark, row.last_stable_offset, row.log_start_offset)
        if row.error_code:
            self._sent.pop(key, None)
            return True
        if row.records:
            self.partitions[key] = self.partitions.pop(key)
        elif self._sent.get(key) == ends and row.diverging_epoch.epoch < 0:
            return False
        self._sent[key] = ends
        return True


def session_ids() -> Iterator[int]:
    """Ids for the sessions of all brokers: 1 to 2**31 - 1, then 1 again."""
    number = 0
    while True:
        number = number % 0x7FFFFFFF + 1
        yield number


class FetchSessions:
    """The sessions of one broker; the oldest ends when there are too many."""

    def __init__(self, ids: Iterator[int]) -> None:
        self._ids = ids
        self._by_id: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def opened(self, request: FetchRequest, *, by_id: bool) -> tuple[FetchSession | None, bool]:
        """The session of a fetch and whether its answer is incremental; None for a fetch without one. `by_id`: the
        version of the request names topics by id. Raises BrokerError FETCH_SESSION_ID_NOT_FOUND,
        INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR."""
        if request.session_epoch == -1:
            self._by_id.pop(request.session_id, None)
            return None, False
        if request.session_epoch == 0:
            self._by_id.pop(request.session_id, None)
            if len(self._by_id) >= MOST_SESSIONS:
                self._by_id.pop(next(iter(self._by_id)))
            session = FetchSession(next(self._ids), by_id)
            self._by_id[session.id] = session
            session.update(request)
            return session, False
        known = self._by_id.get(request.session_id)
        if known is None:
            raise BrokerError(codes.FETCH_SESSION_ID_NOT_FOUND)
        if known.epoch != request.session_epoch:
            raise BrokerError(codes.INVALID_FETCH_SESSION_EPOCH)
        if known.by_id != by_id:
            raise BrokerError(codes.FETCH_SESSION_TOPIC_ID_ERROR)
        known.update(request)
        if not known.partitions:  # nothing is left to ask for: the session is over
            del self._by_id[known.id]
            return None, False
        known.epoch = 1 if known.epoch == LAST_EPOCH else known.epoch + 1
        return known, True

    def clear(self) -> None:
        """End all of them."""
        self._by_id.clear()
