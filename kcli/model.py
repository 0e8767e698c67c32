"""Interfaces and values that all sub-packages share; the packages know each other only through these."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from typing import Any, NamedTuple, Protocol, TypeVar

    from kcli.errors import KcliError
    from kcli.proto.schema import Request

    R = TypeVar("R")
else:
    Protocol = object
    from kcli.values import NamedTuple


class Address(NamedTuple):
    """The host and port of a broker."""

    host: str
    port: int


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class Group(NamedTuple):
    """The key of a consumer group's coordinator (FindCoordinator key type 0)."""

    name: str


class Transaction(NamedTuple):
    """The key of a transactional id's coordinator (FindCoordinator key type 1)."""

    name: str


class GroupMetadata(NamedTuple):
    """A member's identity in its group. A transaction sends it with the offsets that it commits, so that the
    coordinator can reject a member that has since been removed (KIP-447). Without a group session: generation -1, no
    member id."""

    group: str
    generation: int = -1
    member_id: str = ""
    instance_id: str | None = None


class OffsetAndMetadata(NamedTuple):
    """A committed offset: the next offset to read (-1: nothing committed), the leader epoch of the last record read
    (-1: unknown) and free-form metadata."""

    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""


class Node(NamedTuple):
    """A broker as described in the cluster metadata."""

    id: int
    host: str
    port: int
    rack: str | None


class Lane:
    """Traffic classes of a broker, each with its own connection, opened on demand.

    A broker processes one request per connection at a time, so a long poll or a join would otherwise delay heartbeats.
    """

    CONTROL = "control"
    PRODUCE = "produce"
    FETCH = "fetch"
    JOIN = "join"


class Reply(Protocol):
    """Receives the response to a request, or an error; a future is one. The event loop's read callback calls it, so it
    must not raise. `done` means that the response is no longer wanted."""

    def done(self) -> bool: ...
    def set_result(self, answer: Any, /) -> None: ...
    def set_exception(self, problem: Any, /) -> None: ...


if TYPE_CHECKING:
    Posted = tuple[Request[Any], Reply, int | None]
    """A request, the receiver of its response, and the highest version to send (None: no limit)."""


class Broker(Protocol):
    """One broker. In each lane, requests are sent in the order of the calls and responses arrive in the same order."""

    @property
    def node_id(self) -> int: ...

    async def ask(
        self,
        request: Request[R],
        *,
        timeout: float | None = None,
        lane: str | None = None,
        max_version: int | None = None,
    ) -> R:
        """Send a request and return the response.

        The version is the highest that both sides support, and at most `max_version` (a request that names topics
        instead of giving their ids must stay below the topic-id versions). `timeout` is in seconds from the moment the
        request was written; None means the client's request timeout. `lane` None means the default of the request:
        Produce, Fetch, JoinGroup and SyncGroup, and everything else use different lanes.

        Raises ConnectError (with `.sent` if the broker may have acted on the request), AuthError, UnsupportedVersion,
        DecodeError, DeadlineExceeded, Closed.
        """

    def post(
        self,
        requests: Sequence[Posted],
        *,
        timeout: float,
        after: Callable[[], None] | None = None,
        enough: int = 1,
    ) -> int:
        """Write as many of the requests, all of one lane, as possible without waiting; return how many were written.

        Each reply receives what `ask` would return or raise. After all replies of one read of the connection, or after
        its end, `after` is called once; it may post again. With `enough` above 1, that many responses are only useful
        together: they may be read in one piece if they arrive within a few milliseconds. Returns 0 if the connection
        has to be opened first, other requests are waiting for their turn, the peer is not reading, or the request
        cannot be sent at all; call `ask` in that case.
        """

    async def tell(self, request: Request[Any], *, max_version: int | None = None) -> None:
        """Send a request that has no response (Produce with acks=0)."""

    async def versions(self) -> dict[int, tuple[int, int]]:
        """Return the lowest and highest version of each API that this broker supports, by API key."""

    async def close(self) -> None: ...


class BrokerConnection(Broker, Protocol):
    """A broker and the state of its connections, which determines the broker that metadata is requested from.

    Only `kcli/cluster` reads the state. Durations are in seconds, points in time are event-loop time.
    """

    @property
    def name(self) -> str:
        """Name for messages: `broker 1 at host:9092`, or only the address of a bootstrap server."""

    @property
    def connected(self) -> bool: ...
    @property
    def connecting(self) -> bool: ...
    @property
    def met(self) -> bool:
        """Whether this address has ever responded."""

    @property
    def in_flight(self) -> int:
        """Number of requests sent and not yet answered, over all lanes."""

    @property
    def busy(self) -> bool:
        """Whether a request or a connection attempt is under way."""

    @property
    def muted(self) -> bool:
        """Whether the broker is throttling this client on any lane."""

    @property
    def long_silence(self) -> float:
        """Seconds for which the broker throttles this client, if more than a minute; otherwise 0 (KIP-219)."""

    @property
    def backing_off(self) -> bool:
        """Whether the next connection attempt has to wait because the last one failed."""

    @property
    def last_attempt(self) -> float:
        """Time of the last connection attempt; 0 if there was none."""

    @property
    def failing(self) -> tuple[float, KcliError] | None:
        """Since when no connection could be made, and the error; None if there is no problem."""

    async def reach(self) -> None:
        """Connect unless connected. Raises ConnectError."""

    def become(self, node_id: int) -> None:
        """Assign the node id of a bootstrap server once metadata lists a node at its address. The connections
        are kept."""

    async def retire(self) -> None:
        """Close because the broker's address has changed: pending requests fail with ConnectError instead of Closed."""


class Cluster(Protocol):
    """Cluster metadata: leaders and coordinators, with ways to discard cached facts that proved wrong."""

    async def leader(self, at: TopicPartition) -> Broker:
        """Return the leader of a partition. Raises BrokerError (UNKNOWN_TOPIC_OR_PARTITION,
        LEADER_NOT_AVAILABLE, ...)."""

    def leader_moved(
        self, at: TopicPartition, leader_id: int = -1, leader_epoch: int = -1, endpoint: Node | None = None
    ) -> None:
        """Discard the cached leader, or replace it at once by the leader that the response named (KIP-951)."""

    def leader_epoch(self, at: TopicPartition) -> int: ...
    def leader_id(self, at: TopicPartition) -> int:
        """Return the id of the cached leader, -1 if unknown. Sends no request."""

    def leaders_version(self) -> int:
        """Return a number that changes whenever `leader_id` may have changed for any partition."""

    async def coordinator(self, of: Group | Transaction) -> Broker: ...
    def coordinator_moved(self, of: Group | Transaction) -> None: ...
    async def controller(self) -> Broker: ...
    async def anyone(self) -> Broker: ...
    async def node(self, node_id: int) -> Broker: ...
    def known_node(self, node_id: int) -> Broker | None:
        """Return a node from the cached metadata; None if a request would be needed."""

    async def nodes(self) -> Sequence[Node]: ...
    async def partitions(self, topic: str) -> Sequence[int]:
        """Return the partitions of a topic. Raises BrokerError UNKNOWN_TOPIC_OR_PARTITION if the topic does not
        exist."""

    async def topics(self) -> dict[str, Sequence[int]]:
        """Return all topics, including internal ones, with their partitions."""

    async def metadata(self) -> Any:
        """Request metadata of all topics, including internal ones, and cache the leaders in the response."""

    def is_internal(self, topic: str) -> bool: ...
    def topic_id(self, topic: str) -> bytes:
        """Return the cached id of a topic, 16 zero bytes if unknown (KIP-516)."""

    def topic_name(self, topic_id: bytes) -> str | None: ...
    async def learn(self, topic_ids: Collection[bytes]) -> None:
        """Request the metadata of topics by id, and cache their names and leaders. Unknown ids are ignored."""

    def has_leader(self, at: TopicPartition) -> bool:
        """Whether the partition has a leader according to the cache; False if the partition is unknown."""

    def leaderless(self) -> dict[TopicPartition, float]:
        """Return the partitions whose leader could not be found, and for how many seconds."""

    def failing(self) -> dict[int, tuple[float, float, KcliError]]:
        """Return the brokers that cannot be connected to: when that began, the last attempt (loop time), and
        the error."""

    def silencing(self) -> dict[int, float]:
        """Return the brokers that throttle this client for more than a minute, and the seconds (KIP-219)."""

    async def refresh(self, topics: Sequence[str] | None = None) -> None:
        """Request metadata now, for these topics or for all topics in use."""

    async def close(self) -> None: ...


if TYPE_CHECKING:
    Connect = Callable[[Address, int], BrokerConnection]
