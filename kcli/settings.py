"""Settings: frozen values with Kafka's defaults. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.model import Address
from kcli.text.checked import REFUSED, SENT, Checked, flag, made_by, number, seconds, text, word, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from kcli.security import Security

    Partition = Callable[[str, bytes | None, Sequence[int], Sequence[int]], int | None]

DEFAULT_PORT = 9092
PARTITION_BYTES = 2 * 1024 * 1024
DECOMPRESSED = 64 * 1024 * 1024


CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LEVELS = {"gzip": (-1, 9), "zstd": (-131072, 22)}
PARTITIONERS = (
    *("murmur2", "murmur2_random", "consistent", "consistent_random", "fnv1a", "fnv1a_random", "random", "roundrobin"),
)
NAME_OR_FUNCTION = f"{', '.join(PARTITIONERS)}, or a function"
ACKS = {"all": -1, "-1": -1, "1": 1, "0": 0}
ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
JAVA_ASSIGNORS = {
    "org.apache.kafka.clients.consumer.rangeassignor": "range",
    "org.apache.kafka.clients.consumer.roundrobinassignor": "roundrobin",
    "org.apache.kafka.clients.consumer.stickyassignor": "sticky",
    "org.apache.kafka.clients.consumer.cooperativestickyassignor": "cooperative-sticky",
}


def _is_acks(value: object) -> bool:
    return type(value) is int and value in (-1, 0, 1)


def _addresses(value: Any) -> Any:
    """Return a tuple of addresses from pairs of host and port."""
    if not isinstance(value, tuple | list):
        return REFUSED
    found = []
    for one in value:
        if not isinstance(one, tuple) or len(one) != 2:
            return REFUSED
        host, port = one
        if not isinstance(host, str) or not host or not isinstance(port, int) or not 0 < port < 65536:
            return REFUSED
        found.append(Address(host, port))
    return tuple(found)


def _pairs(value: Any) -> Any:
    """Return a tuple of pairs of strings."""
    if not isinstance(value, tuple | list):
        return REFUSED
    for one in value:
        if not isinstance(one, tuple) or len(one) != 2 or not all(isinstance(part, str) and part for part in one):
            return REFUSED
    return tuple(value)


def _security(value: Any) -> Any:
    if value is None:
        return None
    from kcli.security import Security

    return value if isinstance(value, Security) else REFUSED


class ClientSettings(Checked):
    """Settings for connections and metadata."""

    bootstrap: tuple[Address, ...] = made_by((), "addresses, as parse_bootstrap('HOST:PORT,…') makes them", _addresses)
    controllers: bool = flag(False)  # the addresses belong to KRaft controllers instead of brokers (KIP-919)
    client_id: str = text("")  # "" becomes kcli-<pid>-<n>
    request_timeout: float = seconds(30.0, zero=False, most=SENT)
    connect_timeout: float = seconds(10.0, zero=False)  # DNS + TCP + TLS + SASL, growing to connect_timeout_max
    connect_timeout_max: float = seconds(30.0, zero=False)
    reconnect_backoff: float = seconds(0.05)
    reconnect_backoff_max: float = seconds(1.0)
    retry_backoff: float = seconds(0.1)
    retry_backoff_max: float = seconds(1.0)
    metadata_max_age: float = seconds(300.0, zero=False)
    auth_retry_timeout: float = seconds(300.0)  # how long a consumer retries a login that worked before
    rebootstrap_trigger: float = seconds(300.0)  # metadata.recovery.rebootstrap.trigger.ms (KIP-1102)
    check_cluster: bool = flag(True)  # metadata.cluster.check.enable: needs Kafka 4.4 or later (KIP-1242)
    idle_timeout: float = seconds(540.0, zero=False)
    max_in_flight: int = number(5, 1)
    max_frame: int = number(100 * 1024 * 1024, 1)
    auto_create_topics: bool = flag(False)
    rack: str = text("")
    hint: str = text("")  # remedy at the end of the error if no bootstrap server can be reached
    wait_for_cluster: bool = flag(True)  # keep trying up to `deadline` if no broker answers at first
    deadline: float = seconds(30.0, zero=False)  # for looking up the bootstrap, a leader or a coordinator
    guard: str = word("", "read_only", "protected", also={"": ""})  # what the profile forbids
    profile: str = text("")  # its name in messages
    security: Security | None = made_by(None, "a kcli.Security, or None", _security)  # TLS and SASL; None is PLAINTEXT
    # (host:port or host, where to connect instead), for tunnels
    broker_map: tuple[tuple[str, str], ...] = made_by((), "pairs of texts: (FROM, TO)", _pairs)
    trace: str = text("")  # one line per frame: "-" to stderr, else to this file
    metrics_push: bool = flag(False)  # push metrics that the cluster subscribes to (KIP-714); on by default in Java
    dump: int = number(-1, -1, 2**15 - 1)  # API whose frames are dumped to stderr byte by byte; -1 for none


class ProducerSettings(Checked):
    """Settings of a producer. The names are Kafka's with underscores (`batch.size` is `batch_size`)."""

    acks: int = word(-1, "all", also=ACKS, take=_is_acks, expected="'all' or -1, 1 or 0")
    idempotence: bool = flag(True)
    transactional_id: str | None = text(None, "a text that is not empty", empty=False)
    transaction_timeout: float = seconds(60.0, zero=False, most=SENT)  # the coordinator aborts the transaction after it
    linger: float = seconds(0.005)
    batch_size: int = number(1_000_000)
    batch_records: int = number(1_000_000_000, 1)
    compression: str = word("none", *CODECS)
    compression_level: int | None = number(None, -(2**31))
    buffer_memory: int = number(32 * 1024 * 1024, 1, 2**63 - 1)
    buffer_records: int = number(50_000_000, 1, 2**63 - 1)
    max_block: float = seconds(60.0)
    wait_for_topic: bool = flag(True)  # wait up to max_block for a topic that does not exist yet; else fail at once
    max_request_size: int = number(1_048_576, 1)
    max_decompressed: int = number(DECOMPRESSED, 1, 2**63 - 1)  # bytes of a batch before compression
    delivery_timeout: float = seconds(120.0, zero=False)
    request_timeout: float = seconds(30.0, zero=False, most=SENT)
    retries: int = number(2**31 - 1)
    retry_backoff: float = seconds(0.1)
    retry_backoff_max: float = seconds(1.0)
    max_in_flight: int = number(5, 1)
    partitioner: str | Partition = word(
        "murmur2", *PARTITIONERS, take=callable, expected=NAME_OR_FUNCTION
    )  # or a function of (topic, key, partitions, partitions with a leader)
    partitioner_availability_timeout: float = seconds(0.0)

    def _check(self) -> None:
        if self.transactional_id is not None and not self.idempotence:
            raise UsageError(
                "transactional_id needs idempotence=True and acks=all (transactional.id, enable.idempotence)"
            )
        if self.idempotence and self.acks != -1:
            raise UsageError(
                f"acks {self.acks}: an idempotent producer needs acks=all; set idempotence=False for less"
                " (enable.idempotence=false)"
            )
        if self.idempotence and self.max_in_flight > 5:
            raise UsageError(
                f"max_in_flight {self.max_in_flight}: an idempotent producer has at most 5 requests in flight"
                " (max.in.flight.requests)"
            )
        level, (low, high) = self.compression_level, LEVELS.get(self.compression, (-(2**31), 2**31 - 1))
        if level is not None and not low <= level <= high:
            raise UsageError(
                f"compression_level {level}: {self.compression} has levels {low} to {high} (compression.level)"
            )
        if self.delivery_timeout < self.linger + self.request_timeout:
            raise UsageError(
                f"delivery_timeout {self.delivery_timeout:g}: expected at least linger + request_timeout,"
                f" {self.linger + self.request_timeout:g} s"
                " (delivery.timeout.ms must be at least linger.ms + request.timeout.ms)"
            )

    @property
    def largest_record(self) -> int:
        """Size of a batch with one record before compression, in bytes."""
        most = self.max_request_size
        return most if self.compression == "none" else min(most, self.max_decompressed)

    def too_large(self, size: int) -> str:
        """Return the reason why a record of this size is rejected."""
        if size > self.max_request_size:
            return (
                f"a record of {size} bytes is larger than a request can be ({self.max_request_size}, max.request.size)"
            )
        most = f"({self.max_decompressed}, max.decompressed.bytes)"
        return f"a record of {size} bytes is more than consumers decompress {most}"

    def for_command(self, *, max_block_given: bool, wait_for_topic: bool = False) -> ProducerSettings:
        """Return the settings for a command or job: a missing topic is an immediate error, so that a typo never waits.

        Unless `max_block` was given, a full buffer waits until the delivery timeout has decided that an outage lasts
        too long.
        """
        longest = self.max_block if max_block_given else max(self.max_block, self.delivery_timeout)
        return self.replace(max_block=longest, wait_for_topic=wait_for_topic)


class ConsumerSettings(Checked):
    """Settings of a consumer."""

    isolation: str = word("read_uncommitted", "read_uncommitted", "read_committed")
    fetch_min_bytes: int = number(1)
    fetch_max_wait: float = seconds(0.5, most=SENT)
    fetch_max_bytes: int = number(8 * 1024 * 1024, 1)
    partition_max_bytes: int = number(PARTITION_BYTES, 1)
    buffer_bytes: int = number(32 * 1024 * 1024, 1, 2**63 - 1)  # prefetched and not yet delivered, for the whole client
    check_crcs: bool = flag(True)
    reset: str = word("earliest", "earliest", "latest", "none")  # without a position, and when it is out of range
    skip_corrupt: bool = flag(False)
    max_decompressed: int = number(DECOMPRESSED, 1, 2**63 - 1)  # bytes of a batch
    decompress: bool = flag(True)  # before a poll returns, large batches in a thread; else when the records are read
    include_control: bool = flag(False)
    request_timeout: float = seconds(30.0, zero=False, most=SENT)
    retry_backoff: float = seconds(0.1)
    retry_backoff_max: float = seconds(1.0)

    @property
    def partition_most_bytes(self) -> int:
        """`partition_max_bytes` for topics with large records: twice as much, unless it was set explicitly. Large
        records are not copied, so the cost per response outweighs the cost per byte."""
        most = self.partition_max_bytes
        return 2 * most if most == PARTITION_BYTES else most


class GroupSettings(Checked):
    """Settings of a consumer group's member. `protocol` is "classic", or "consumer" for KIP-848, where the coordinator
    determines session timeout, heartbeat interval and assignment (using `remote_assignor`)."""

    group: str = text("", "the name of a group", empty=False)
    protocol: str = word("classic", "classic", "consumer")
    remote_assignor: str | None = text(
        None, "the name of an assignor", empty=False
    )  # uniform | range; None lets the coordinator choose
    instance_id: str | None = text(None, "a text that is not empty", empty=False)
    session_timeout: float = seconds(45.0, zero=False, most=SENT)
    heartbeat_interval: float = seconds(3.0, zero=False)
    rebalance_timeout: float = seconds(60.0, zero=False, most=SENT)
    max_poll_interval: float = seconds(300.0, zero=False)
    assignors: tuple[str, ...] = words(("range", "cooperative-sticky"), *ASSIGNORS, also=JAVA_ASSIGNORS)
    auto_commit: bool | None = flag(None)  # None: on, except with Workers, which commit themselves
    auto_commit_interval: float = seconds(5.0, zero=False)
    block_rebalance_on_poll: bool = flag(True)
    rack: str = text("")

    def _check(self) -> None:
        if self.protocol == "consumer":
            for name, property_name in COORDINATORS.items():
                if getattr(self, name) != getattr(DEFAULT_GROUP, name):
                    raise UsageError(
                        f"{name} ({property_name}) cannot be used with group.protocol=consumer:"
                        " the group coordinator decides it"
                    )
            return
        if self.remote_assignor is not None:
            raise UsageError("remote_assignor needs protocol='consumer' (group.remote.assignor, group.protocol)")
        if self.heartbeat_interval >= self.session_timeout:
            raise UsageError(
                f"heartbeat_interval {self.heartbeat_interval:g}: expected less than session_timeout,"
                f" {self.session_timeout:g} s (heartbeat.interval.ms, session.timeout.ms)"
            )

    @property
    def commits_by_itself(self) -> bool:
        """Whether processed records are committed automatically: every `auto_commit_interval`, on rebalance and on
        close."""
        return self.auto_commit is not False


DEFAULT_GROUP = GroupSettings()
COORDINATORS = {
    "session_timeout": "session.timeout.ms",
    "heartbeat_interval": "heartbeat.interval.ms",
    "assignors": "partition.assignment.strategy",
}
"""Settings that the coordinator determines in the KIP-848 protocol, and their property names."""


class WrongAddress(UsageError, ValueError):
    """The text is not a list of addresses."""


def parse_bootstrap(text: str, default_port: int = DEFAULT_PORT) -> tuple[Address, ...]:
    """Parse `host[:port],[v6]:port,…` into addresses. Spaces and a `LISTENER://` prefix are accepted; a URL is not.

    Raises WrongAddress with the invalid part.
    """
    found: list[Address] = []
    for part in text.split(","):
        listener, _, name = part.strip().rpartition("://")
        if listener.lower() in ("http", "https"):
            host = name.partition("/")[0].rpartition("@")[2]
            raise WrongAddress(f"{listener}://{host} is the address of a web server; write a broker's HOST:PORT")
        if not name:
            continue
        if "@" in name:
            raise WrongAddress(
                f"no user name belongs in front of {name.rpartition('@')[2]}: use sasl.username and sasl.password"
            )
        host, port = _split(name, part.strip(), default_port)
        if Address(host, port) not in found:
            found.append(Address(host, port))
    if not found:
        raise WrongAddress("it has no address; write host:port, several separated by commas")
    return tuple(found)


def _is_v6(name: str) -> bool:
    """Whether a text is an IPv6 address, with or without a zone."""
    from socket import AF_INET6, inet_pton

    address, _, zone = name.partition("%")
    try:
        inet_pton(AF_INET6, address)
    except (OSError, ValueError):
        return False
    return ":" not in zone


def _v6(name: str, shown: str) -> tuple[str, str]:
    """Split an IPv6 address without brackets into host and port ("" for none). `::1:9092` is ambiguous: a port that
    Kafka commonly uses, or a loopback address before it, decides for a port."""
    host, _, port = name.rpartition(":")
    if _is_v6(host) and port.isdecimal() and (not _is_v6(name) or host == "::1" or 9092 <= int(port) <= 9099):
        return host, port
    if not _is_v6(name):
        raise WrongAddress(f"{shown} has more than one port; write host:port, several separated by commas")
    return name, ""


def _split(name: str, shown: str, default_port: int) -> tuple[str, int]:
    if name.startswith("["):
        host, closed, rest = name[1:].partition("]")
        if not closed or (rest and not rest.startswith(":")):
            raise WrongAddress(f"{shown} is not an address; write [v6]:port")
        port = rest[1:]
    elif name.count(":") > 1:
        host, port = _v6(name, shown)
    else:
        host, _, port = name.partition(":")
    if not host or any(c.isspace() or c == "/" for c in host):
        raise WrongAddress(f"{shown} is not an address; write host:port")
    if not port:
        return host, default_port
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise WrongAddress(f"{shown} has no valid port (1-65535)")
    return host, int(port)
