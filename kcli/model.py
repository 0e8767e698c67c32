"""The interfaces and values every part of kcli knows. Sub-packages meet here and nowhere else."""

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
    """Where a broker listens."""

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
    """A member's place in its group: what a transaction that commits the group's offsets shows, so that a member
    that was left behind is refused (KIP-447). Without a group session: generation -1 and no member id."""

    group: str
    generation: int = -1
    member_id: str = ""
    instance_id: str | None = None


class OffsetAndMetadata(NamedTuple):
    """What a group commits for a partition: the next offset to read (-1: nothing is committed), the leader epoch of
    the last record read (-1: unknown), free text."""

    offset: int = -1
    leader_epoch: int = -1
    metadata: str = ""


class Node(NamedTuple):
    """A broker as the cluster's metadata names it."""

    id: int
    host: str
    port: int
    rack: str | None


class Lane:
    """The traffic classes of a broker. A broker answers one request per connection at a time, so a long poll or a join
    must not delay a heartbeat (B8): each lane is a connection of its own, opened on demand."""

    CONTROL = "control"
    PRODUCE = "produce"
    FETCH = "fetch"
    JOIN = "join"


class Reply(Protocol):
    """What takes the answer to a request, or the error instead; a future is one. It is called by the loop's reading
    callback, so it must not raise. `done`: the answer is not wanted any more."""

    def done(self) -> bool: ...
    def set_result(self, answer: Any, /) -> None: ...
    def set_exception(self, problem: Any, /) -> None: ...


if TYPE_CHECKING:
    Posted = tuple[Request[Any], Reply, int | None]
    """A request, what takes its answer, and the highest version it may go at."""


class Broker(Protocol):
    """One broker: requests leave in the order of the calls, responses arrive in that order, per lane."""

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
        """The broker's answer, at the highest version both speak and at most `max_version` (a request that names
        topics and has no ids must stay below the topic-id versions, C8). `timeout` is in seconds from the moment the
        request was written (B6); None is the client's request timeout. `lane` None is the request's own (Produce,
        Fetch, JoinGroup and SyncGroup, the rest). Raises ConnectError (`.sent` tells whether the broker may have
        acted on it), AuthError, UnsupportedVersion, DecodeError, DeadlineExceeded, Closed."""

    def post(
        self,
        requests: Sequence[Posted],
        *,
        timeout: float,
        after: Callable[[], None] | None = None,
        enough: int = 1,
    ) -> int:
        """Write as many of the requests as can be written without waiting, all of one lane; how many. Each one's reply
        gets what `ask` returns or raises. `after` is called behind them: once for all that one read of the connection
        brought, or its end; it may post again. `enough` responses are of use only together: they may be read in one
        piece, if they come within some milliseconds. 0 where a connection has to be opened first, others wait for
        their turn, the peer does not read, or a request cannot be sent at all: then `ask`."""

    async def tell(self, request: Request[Any], *, max_version: int | None = None) -> None:
        """Write a request that has no answer (Produce with acks=0)."""

    async def versions(self) -> dict[int, tuple[int, int]]:
        """API key to (lowest, highest) version as this broker advertises them."""

    async def close(self) -> None: ...


class BrokerConnection(Broker, Protocol):
    """A broker with the state of its connections, which decides the broker that the cluster asks next (B27). Only
    `kcli/cluster` reads it. Times are seconds, moments those of the event loop."""

    @property
    def name(self) -> str:
        """For messages: `broker 1 at host:9092`, of a seed the address alone."""

    @property
    def connected(self) -> bool: ...
    @property
    def connecting(self) -> bool: ...
    @property
    def met(self) -> bool:
        """Whether it ever answered at this address."""

    @property
    def in_flight(self) -> int:
        """Requests that are written and not answered yet, on all lanes."""

    @property
    def busy(self) -> bool:
        """Whether a request or a connection attempt is under way."""

    @property
    def muted(self) -> bool:
        """Whether the broker throttles this client on some lane."""

    @property
    def long_silence(self) -> float:
        """Seconds of silence that the broker asks for, where that is more than a minute; else 0 (KIP-219)."""

    @property
    def backing_off(self) -> bool:
        """Whether the next connection attempt has to wait after one that failed."""

    @property
    def last_attempt(self) -> float:
        """When the last connection attempt began; 0 for never."""

    @property
    def failing(self) -> tuple[float, KcliError] | None:
        """Since when no connection is possible, and why; None where nothing is wrong."""

    async def reach(self) -> None:
        """Be connected. Raises ConnectError."""

    def become(self, node_id: int) -> None:
        """A seed is this node, because metadata names it at the seed's address. Its connections stay."""

    async def retire(self) -> None:
        """Close because the broker has another address now: requests under way end with ConnectError, not Closed."""


class Cluster(Protocol):
    """Leaders and coordinators, and how to forget what proved wrong (kpax's LeaderIsDown)."""

    async def leader(self, at: TopicPartition) -> Broker:
        """Raises BrokerError (UNKNOWN_TOPIC_OR_PARTITION, LEADER_NOT_AVAILABLE, ...) when it has no leader now."""

    def leader_moved(
        self, at: TopicPartition, leader_id: int = -1, leader_epoch: int = -1, endpoint: Node | None = None
    ) -> None:
        """Forget the leader; with a KIP-951 hint, know the next one at once."""

    def leader_epoch(self, at: TopicPartition) -> int: ...
    def leader_id(self, at: TopicPartition) -> int:
        """The leader as cached, -1 when unknown: no request is made."""

    def leaders_version(self) -> int:
        """Another number whenever `leader_id` of any partition may have changed."""

    async def coordinator(self, of: Group | Transaction) -> Broker: ...
    def coordinator_moved(self, of: Group | Transaction) -> None: ...
    async def controller(self) -> Broker: ...
    async def anyone(self) -> Broker: ...
    async def node(self, node_id: int) -> Broker: ...
    def known_node(self, node_id: int) -> Broker | None:
        """As `node`, from what is known: None where the cluster would have to be asked."""

    async def nodes(self) -> Sequence[Node]: ...
    async def partitions(self, topic: str) -> Sequence[int]:
        """Raises BrokerError UNKNOWN_TOPIC_OR_PARTITION for a topic that does not exist."""

    async def topics(self) -> dict[str, Sequence[int]]:
        """All topics and their partitions, internal ones included."""

    async def metadata(self) -> Any:
        """The MetadataResponse about all topics, internal ones included. Always asks, and keeps the leaders it
        names."""

    def is_internal(self, topic: str) -> bool: ...
    def topic_id(self, topic: str) -> bytes:
        """The cached topic id, 16 zero bytes when unknown (KIP-516)."""

    def topic_name(self, topic_id: bytes) -> str | None: ...
    async def learn(self, topic_ids: Collection[bytes]) -> None:
        """Ask for the metadata of these topics: their names, and the leaders that it names, are known then. Unknown
        ids are passed over."""

    def has_leader(self, at: TopicPartition) -> bool:
        """As cached; False for a leaderless or unknown partition."""

    def leaderless(self) -> dict[TopicPartition, float]:
        """The partitions whose leader was looked up in vain, and over how many seconds."""

    def failing(self) -> dict[int, tuple[float, float, KcliError]]:
        """The brokers to which no connection comes about: since when, when last tried (loop time), and why not."""

    def silencing(self) -> dict[int, float]:
        """The brokers that ask us to be quiet for more than a minute, and how many seconds (KIP-219)."""

    async def refresh(self, topics: Sequence[str] | None = None) -> None:
        """Ask for metadata now: of these topics, or of those in use."""

    async def close(self) -> None: ...


if TYPE_CHECKING:
    Connect = Callable[[Address, int], BrokerConnection]
