"""Settings: frozen values with Kafka's defaults, passed whole. Times are seconds, sizes are bytes."""

from __future__ import annotations

from kcli.model import Address
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kcli.security import Security

    Partition = Callable[[str, bytes | None, Sequence[int], Sequence[int]], int | None]

DEFAULT_PORT = 9092
PARTITION_BYTES = 2 * 1024 * 1024


class ClientSettings(Frozen):
    """Connections and metadata."""

    bootstrap: tuple[Address, ...] = ()
    client_id: str = ""  # "" becomes kcli-<pid>-<n>
    request_timeout: float = 30.0
    connect_timeout: float = 10.0  # DNS + TCP + TLS + SASL (B22), growing to connect_timeout_max
    connect_timeout_max: float = 30.0
    reconnect_backoff: float = 0.05
    reconnect_backoff_max: float = 1.0
    retry_backoff: float = 0.1
    retry_backoff_max: float = 1.0
    metadata_max_age: float = 300.0
    rebootstrap_trigger: float = 300.0  # metadata.recovery.rebootstrap.trigger.ms (KIP-1102)
    idle_timeout: float = 540.0
    max_in_flight: int = 5
    max_frame: int = 100 * 1024 * 1024
    auto_create_topics: bool = False
    rack: str = ""
    hint: str = ""  # what to do where no bootstrap server is reached: the end of that error
    deadline: float = 30.0  # of looking something up: bootstrap, a leader, a coordinator
    guard: str = ""  # read_only | protected: what the profile forbids
    profile: str = ""  # its name, for messages
    security: Security | None = None  # TLS and SASL; None is PLAINTEXT
    broker_map: tuple[tuple[str, str], ...] = ()  # (host:port or host, where to connect instead), for tunnels
    trace: str = ""  # a line per frame: "-" to stderr, else to this file
    metrics_push: bool = False  # push metrics that the cluster subscribes to (KIP-714); Java's default is true
    dump: int = -1  # the API whose frames are shown on stderr, byte by byte; -1 for none


class ProducerSettings(Frozen):
    """The producer. Names follow Kafka's (`batch.size` is `batch_size`)."""

    acks: int = -1
    idempotence: bool = True
    transactional_id: str | None = None
    transaction_timeout: float = 60.0  # after which the coordinator aborts by itself
    linger: float = 0.005
    batch_size: int = 1_000_000
    batch_records: int = 1_000_000_000
    compression: str = "none"
    compression_level: int | None = None
    buffer_memory: int = 32 * 1024 * 1024
    buffer_records: int = 50_000_000
    max_block: float = 60.0
    wait_for_topic: bool = True  # up to max_block for a topic that does not exist yet; else it is an error at once
    max_request_size: int = 1_048_576
    delivery_timeout: float = 120.0
    request_timeout: float = 30.0
    retries: int = 2**31 - 1
    retry_backoff: float = 0.1
    retry_backoff_max: float = 1.0
    max_in_flight: int = 5
    partitioner: str | Partition = "murmur2"  # or a function of (topic, key, partitions, those with a leader)
    partitioner_availability_timeout: float = 0.0

    def for_command(self, *, max_block_given: bool, wait_for_topic: bool = False) -> ProducerSettings:
        """For a command or a job: a topic that does not exist is an error at once, so that a typing error never waits.
        Unless `max_block` was given, a full buffer is waited for until the delivery timeout has decided that an outage
        is too long."""
        longest = self.max_block if max_block_given else max(self.max_block, self.delivery_timeout)
        return self.replace(max_block=longest, wait_for_topic=wait_for_topic)


class ConsumerSettings(Frozen):
    """The consumer."""

    isolation: str = "read_uncommitted"
    fetch_min_bytes: int = 1
    fetch_max_wait: float = 0.5
    fetch_max_bytes: int = 8 * 1024 * 1024
    partition_max_bytes: int = PARTITION_BYTES
    buffer_bytes: int = 32 * 1024 * 1024  # prefetched and not yet delivered, whole client (E12)
    check_crcs: bool = True
    reset: str = "earliest"  # earliest | latest | none: where to go without a position, and when out of range
    skip_corrupt: bool = False
    max_decompressed: int = 256 * 1024 * 1024
    decompress: bool = True  # before a poll hands out, and large batches in a thread; else by whoever reads the records
    include_control: bool = False
    request_timeout: float = 30.0
    retry_backoff: float = 0.1
    retry_backoff_max: float = 1.0

    @property
    def partition_most_bytes(self) -> int:
        """`partition_max_bytes` where records are large: twice as much, unless it was set. What is done with a
        response costs more than its bytes there, as they are not copied."""
        most = self.partition_max_bytes
        return 2 * most if most == PARTITION_BYTES else most


class GroupSettings(Frozen):
    """Membership of a consumer group: `protocol` is "classic", or "consumer" for KIP-848, where the coordinator decides
    the session, the heartbeats and the assignment (by `remote_assignor`)."""

    group: str = ""
    protocol: str = "classic"
    remote_assignor: str | None = None  # uniform | range; None is the coordinator's first choice
    instance_id: str | None = None
    session_timeout: float = 45.0
    heartbeat_interval: float = 3.0
    rebalance_timeout: float = 60.0
    max_poll_interval: float = 300.0
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")  # also roundrobin, sticky
    auto_commit: bool = True
    auto_commit_interval: float = 5.0
    block_rebalance_on_poll: bool = True
    rack: str = ""


def parse_bootstrap(text: str, default_port: int = DEFAULT_PORT) -> tuple[Address, ...]:
    """`host[:port],[v6]:port,…` as addresses; spaces and `LISTENER://` in front are tolerated (C1), a URL is not.
    Raises ValueError with the part that is none."""
    found: list[Address] = []
    for part in text.split(","):
        listener, _, name = part.strip().rpartition("://")
        if listener.lower() in ("http", "https"):
            host = name.partition("/")[0].rpartition("@")[2]
            raise ValueError(f"{listener}://{host} is the address of a web server; write a broker's HOST:PORT")
        if not name:
            continue
        if "@" in name:
            raise ValueError(
                f"no user name belongs in front of {name.rpartition('@')[2]}: use sasl.username and sasl.password"
            )
        host, port = _split(name, part.strip(), default_port)
        if Address(host, port) not in found:
            found.append(Address(host, port))
    if not found:
        raise ValueError("there is no address in it; write host:port, several with commas between")
    return tuple(found)


def _is_v6(name: str) -> bool:
    """Whether a text with several colons may be an IPv6 address, with a zone or without."""
    address = name.partition("%")[0]
    return not address.strip("0123456789abcdefABCDEF:.") and ("::" in address or address.count(":") == 7)


def _split(name: str, shown: str, default_port: int) -> tuple[str, int]:
    if name.startswith("["):
        host, closed, rest = name[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise ValueError(f"{shown} is not an address; write [v6]:port")
        port = rest[1:]
    elif name.count(":") > 1:
        if not _is_v6(name):
            raise ValueError(f"{shown} has more than one port; write host:port, several with commas between")
        host, port = name, ""
    else:
        host, _, port = name.partition(":")
    if not host or any(c.isspace() or c == "/" for c in host):
        raise ValueError(f"{shown} is not an address; write host:port")
    if not port:
        return host, default_port
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise ValueError(f"{shown} has no valid port (1-65535)")
    return host, int(port)
