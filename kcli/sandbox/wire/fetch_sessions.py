"""Fetch sessions (KIP-227): a reader names its partitions once, then only what changed; the broker answers only what
changed. Epoch 0 opens, -1 closes or does without, every other one counts up."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.proto.messages.fetch import FetchPartition, FetchRequest, PartitionData
    from kcli.sandbox.wire.broker import SandboxBroker

    Key = tuple[str, bytes, int]  # topic name (below version 13), topic id (from 13 on), partition

MOST_SESSIONS = 1000
LAST_EPOCH = 0x7FFFFFFF


class FetchSession:
    """The partitions of one reader, in the order in which they are served, and what it was told last."""

    def __init__(self, session_id: int) -> None:
        self.id = session_id
        self.epoch = 1  # the one expected next
        self.partitions: dict[Key, FetchPartition] = {}
        self._told: dict[Key, tuple[int, int, int]] = {}

    def update(self, request: FetchRequest) -> None:
        for topic in request.forgotten_topics_data:
            for index in topic.partitions:
                self.partitions.pop((topic.topic, topic.topic_id, index), None)
                self._told.pop((topic.topic, topic.topic_id, index), None)
        for asked in request.topics:
            for partition in asked.partitions:
                self.partitions[(asked.topic, asked.topic_id, partition.partition)] = partition

    def is_news(self, key: Key, row: PartitionData) -> bool:
        """Whether an incremental answer must carry this row; notes it as told. A partition with data goes to the end
        of the queue, so that none starves the others."""
        told = (row.high_watermark, row.last_stable_offset, row.log_start_offset)
        if row.error_code:
            self._told.pop(key, None)
            return True
        if row.records:
            self.partitions[key] = self.partitions.pop(key)
        elif self._told.get(key) == told and row.diverging_epoch.epoch < 0:
            return False
        self._told[key] = told
        return True


def opened(broker: SandboxBroker, request: FetchRequest) -> tuple[FetchSession | None, bool]:
    """The session of a fetch and whether its answer is incremental; None for a fetch without one.
    Raises BrokerError FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH."""
    if request.session_epoch == -1:
        broker.sessions.pop(request.session_id, None)
        return None, False
    if request.session_epoch == 0:
        broker.sessions.pop(request.session_id, None)
        if len(broker.sessions) >= MOST_SESSIONS:
            broker.sessions.pop(next(iter(broker.sessions)))
        session = FetchSession(broker.sandbox.next_session_id())
        broker.sessions[session.id] = session
        session.update(request)
        return session, False
    found = broker.sessions.get(request.session_id)
    if found is None:
        raise BrokerError(codes.FETCH_SESSION_ID_NOT_FOUND)
    if found.epoch != request.session_epoch:
        raise BrokerError(codes.INVALID_FETCH_SESSION_EPOCH)
    found.epoch = 1 if found.epoch == LAST_EPOCH else found.epoch + 1
    found.update(request)
    return found, True
