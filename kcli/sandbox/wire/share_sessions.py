"""Share sessions (KIP-932) of one broker: which partitions each member reads here. Epoch 0 opens, -1 ends, every other
one counts up, over fetches and acknowledgements. With the session, or its connection, all the member has here is free.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.share_fetch import ShareFetchRequest
from kcli.sandbox.groups.share import ShareGroup
from kcli.sandbox.wire.peer import Peer

Place = tuple[bytes, int]

NEW, FINAL, LAST_EPOCH = 0, -1, 0x7FFFFFFF


def asked(request: ShareFetchRequest) -> list[Place]:
    """The partitions that a fetch names."""
    return [(topic.topic_id, row.partition_index) for topic in request.topics for row in topic.partitions]


class ShareSession:
    """The partitions of one member, in the order in which they are served. `forgotten` is what it ever let go."""

    def __init__(self, peer: Peer | None) -> None:
        self.peer = peer
        self.epoch = 1  # the one expected next
        self.partitions: dict[Place, None] = {}
        self.forgotten: list[Place] = []
        self.nameless: set[Place] = set()  # of topics that were unknown when they were added

    def update(self, request: ShareFetchRequest, topics: Container[bytes]) -> None:
        for place in asked(request):
            if place not in self.partitions and place[0] not in topics:
                self.nameless.add(place)
            self.partitions.setdefault(place)
        for gone in request.forgotten_topics_data:
            for index in gone.partitions:
                self.partitions.pop((gone.topic_id, index), None)
                self.nameless.discard((gone.topic_id, index))
                self.forgotten.append((gone.topic_id, index))

    def served(self, place: Place) -> None:
        """It gave something: the others come first next time."""
        self.partitions.pop(place)
        self.partitions[place] = None


class ShareSessions:
    """By group and member, of the broker `node`. `share_group` finds a group by name."""

    def __init__(self, share_group: Callable[[str], ShareGroup | None], node: int) -> None:
        self._share_group = share_group
        self._node = node
        self.open: dict[tuple[str, str], ShareSession] = {}

    def fetching(self, peer: Peer | None, request: ShareFetchRequest, topics: Container[bytes]) -> ShareSession | None:
        """The session of a fetch; None when the fetch ends it. `topics` are the ids that exist. A new session replaces
        the member's old one, which keeps its records acquired. Raises BrokerError SHARE_SESSION_NOT_FOUND,
        INVALID_SHARE_SESSION_EPOCH, INVALID_REQUEST, and as Kafka does UNKNOWN_SERVER_ERROR for a new session with a
        partition twice."""
        key = (request.group_id or "", request.member_id or "")
        acknowledges = any(row.acknowledgement_batches for topic in request.topics for row in topic.partitions)
        if request.share_session_epoch == NEW:
            if acknowledges:
                raise BrokerError(codes.INVALID_REQUEST, message="the first request of a session acknowledges nothing")
            self.open.pop(key, None)
            if len(set(asked(request))) < len(asked(request)):
                raise BrokerError(codes.UNKNOWN_SERVER_ERROR, message="a session has each partition once")
            opened = self.open[key] = ShareSession(peer)
            opened.update(request, topics)
            return opened
        session = self.continued(key, request.share_session_epoch)
        if session is not None:
            session.update(request, topics)
        return session

    def continued(self, key: tuple[str, str], epoch: int) -> ShareSession | None:
        """The session that continues with this epoch; None for the final one. Raises BrokerError."""
        session = self.open.get(key)
        if session is None:
            raise BrokerError(codes.SHARE_SESSION_NOT_FOUND)
        if epoch == FINAL:
            return None
        if epoch == NEW or epoch != session.epoch:
            raise BrokerError(codes.INVALID_SHARE_SESSION_EPOCH)
        session.epoch = 1 if session.epoch == LAST_EPOCH else session.epoch + 1
        return session

    def end(self, group: str, member: str) -> None:
        """The session is over, and its records are free."""
        self.open.pop((group, member), None)
        share_group = self._share_group(group)
        if share_group is not None:
            share_group.release(member, self._node)

    def disconnected(self, peer: Peer) -> None:
        """A connection ended, and with it the sessions that were opened on it."""
        for key in [key for key, session in self.open.items() if session.peer is peer]:
            self.end(*key)
