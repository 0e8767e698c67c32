"""The client: creates the broker connections, the cluster and, from them, producers, consumers and the admin client."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping
from weakref import WeakSet

from kcli.broker.broker import ControllerBroker, NetworkBroker
from kcli.broker.connector import Identity
from kcli.cluster.cluster import NetworkCluster
from kcli.errors import FORKED, Closed, UsageError
from kcli.metrics.observer import Observer
from kcli.settings import (
    ClientSettings,
    ConsumerSettings,
    GroupSettings,
    ProducerSettings,
    WrongAddress,
    parse_bootstrap,
)
from kcli.system.child import after_fork
from kcli.text.checked import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Self, TypeVar

    from kcli.admin.admin import Admin
    from kcli.config.properties.client_defaults import Defaults
    from kcli.consumer.consumer import Consumer
    from kcli.consumer.share.consumer import ShareConsumer
    from kcli.consumer.share.settings import ShareSettings
    from kcli.errors import AuthError
    from kcli.formats import Format, Formats
    from kcli.grammar.bound import Bound
    from kcli.lag.snapshot import GroupLag
    from kcli.metrics.hooks import Hooks
    from kcli.metrics.values import ClientMetrics
    from kcli.model import Address, BrokerConnection, Cluster
    from kcli.producer.intake.interceptors import Interceptor
    from kcli.producer.producer import Producer
    from kcli.registry.folder import FolderSchemas
    from kcli.registry.lookup import RegistrySchemas
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schemas
    from kcli.telemetry.reporter import Reporter

    Connect = Callable[[Address, int], BrokerConnection]
    OpenSchemas = RegistrySchemas | FolderSchemas
    User = Producer | Consumer | ShareConsumer
    Kind = TypeVar("Kind")

_kept = False
LARGEST_KEPT = 31 * 1024 * 1024  # just below the highest threshold that glibc allows

HEADROOM = 16 * 1024 * 1024
"""Bytes by which a Fetch response may exceed fetch.max.bytes: its first batch is always sent whole."""
_numbers = itertools.count(1)
_clients: WeakSet[Client] = WeakSet()


class Client:
    """A connection to one cluster: `async with Client("localhost:9092") as client:`.

    `settings` are the bootstrap addresses, a ClientSettings, or a mapping of Kafka property names such as
    `{"bootstrap.servers": "localhost:9092", "linger.ms": 20}`. Properties of producers, consumers and groups become the
    defaults of the producers and consumers that this client creates; `group.id` is the group of its consumers.

    `connect` replaces the function that creates connections to brokers: it is called with an address and a broker id
    (-1 for a bootstrap address) and returns a `Broker`, such as a `NetworkBroker` that counts its requests
    (examples/own_broker.py). `registry` is the schema registry behind `schemas`; `hooks` are called on events such as a
    lost connection. Raises UsageError for invalid addresses and for properties that are unknown or have an invalid
    value.
    """

    def __init__(
        self,
        settings: ClientSettings | Mapping[str, object] | str,
        *,
        connect: Connect | None = None,
        registry: RegistrySettings | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        self._defaults: Defaults | None = None
        if isinstance(settings, Mapping):
            from kcli.config.properties.client_defaults import of_properties

            settings, self._defaults, properties = of_properties(settings)
            if registry is None and properties.names_registry:
                from kcli.registry.settings import registry_of

                registry = registry_of(properties)
        if isinstance(settings, str):
            try:
                settings = ClientSettings(bootstrap=parse_bootstrap(settings))
            except WrongAddress as problem:
                raise UsageError(f"bootstrap: {problem}") from None
        self.settings = _of_kind("settings", settings, ClientSettings)
        keep_large_blocks()
        self._observer = Observer(hooks)
        self._telemetry: Reporter | None = None
        connect = self._observed(connect or self._connect(), Identity(lambda: cluster.topology.cluster_id))
        self.cluster: Cluster = (cluster := NetworkCluster(connect, settings))
        self._registry = registry
        self._schemas: OpenSchemas | None = None
        self._opened: dict[RegistrySettings, OpenSchemas] = {}  # of formats with a registry of their own
        self._users: WeakSet[User] = WeakSet()  # producers and consumers, including closed ones
        self._closed = self._forked = False
        _clients.add(self)

    def _connect(self) -> Connect:
        """Return the function that connects to brokers with these settings."""
        settings = self.settings
        client_id = settings.client_id or f"kcli-{os.getpid()}-{next(_numbers)}"

        kind = ControllerBroker if settings.controllers else NetworkBroker
        if settings.guard:
            from kcli.broker.guard import guarded

            kind = guarded(kind)

        access = None
        if settings.security is not None:
            from kcli.broker.security.access import Access

            access = Access(settings.security)
            access.logins.patience = settings.auth_retry_timeout
            access.logins.on_failure = self._login_failed

        def connect(address: Address, node_id: int) -> BrokerConnection:
            return kind(address, node_id, self.settings, client_id, access)

        return connect

    def _observed(self, connect: Connect, identity: Identity) -> Connect:
        def observed(address: Address, node_id: int) -> BrokerConnection:
            broker = connect(address, node_id)
            if isinstance(broker, NetworkBroker):
                broker.watch(self._observer)
                broker.expect(identity)
            return broker

        return observed

    def _login_failed(self, text: str, error: AuthError | None) -> None:
        """Report a failed login to producers and consumers. An `error` ends the consumers; producers keep trying until
        their delivery timeout."""
        for user in self._users:
            user.login_failed(text, error)

    @property
    def metrics(self) -> ClientMetrics:
        """A snapshot of the connection and request counters. Connections of a custom `connect` that returns something
        other than a `NetworkBroker` are not counted."""
        return self._observer.metrics.copy()

    @property
    def admin(self) -> Admin:
        """The admin client, which inspects and changes the cluster."""
        from kcli.admin.admin import Admin

        if self._forked:
            raise UsageError(FORKED)
        return Admin(self.cluster)

    @property
    def schemas(self) -> Schemas:
        """The schemas of the registry, each fetched on first use. Raises UsageError if no registry is configured."""
        if self._schemas is None:
            if self._registry is None:
                raise UsageError("no schema registry is set: set schema.registry.url")
            from kcli.registry.lookup import open_schemas

            own = self.settings
            self._schemas = open_schemas(self._registry, guard=own.guard, profile=own.profile)
        return self._schemas

    async def __aenter__(self) -> Self:
        if self.settings.metrics_push and self.settings.guard != "read_only" and self._telemetry is None:
            from kcli.telemetry.reporter import Reporter

            self._telemetry = Reporter(self.cluster, self._observer, self.settings.rack)
            self._telemetry.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the client and its open producers and consumers.

        Records that the broker has not acknowledged fail with Closed, or with UnknownOutcome if they may be stored.
        Raises the error of a consumer's last commit if that commit failed.
        """
        self._closed = True
        try:
            users = [user.client_closed() for user in self._users]
            ends = await asyncio.gather(*users, return_exceptions=True)
            for schemas in (*([] if self._schemas is None else [self._schemas]), *self._opened.values()):
                await schemas.close()
            if self._telemetry is not None:
                await self._telemetry.close()
        finally:
            await self.cluster.close()
        for problem in ends:
            if problem is not None:
                raise problem

    async def lag(self, group: str, *, isolation: str = "read_uncommitted") -> GroupLag:
        """Return the lag of a group: the total, the status, and the lag of each partition. Raises GroupMissing,
        KcliError."""
        from kcli.lag.snapshot import lag_of

        self._check()
        return await lag_of(self.cluster, group, isolation)

    def producer(
        self,
        settings: ProducerSettings | None = None,
        interceptors: Sequence[Interceptor] = (),
        *,
        key: Format | None = None,
        value: Format | None = None,
    ) -> Producer:
        """Create a producer, to be used in an `async with` inside the client's.

        With the formats `key` and `value` (kcli.formats) it sends objects instead of bytes. Raises UsageError if the
        profile is read-only.
        """
        self._check("producing")
        from kcli.producer.producer import Producer

        own = self._own(settings, "producer", ProducerSettings)
        age = self.settings.metadata_max_age
        producer = Producer(
            self.cluster, own, interceptors, self._observer, metadata_max_age=age, formats=self._formats(key, value)
        )
        self._users.add(producer)
        return producer

    def consumer(
        self,
        *topics: str,
        group: GroupSettings | str | None = None,
        start: Bound | str | None = None,
        stop_at_end: bool = False,
        settings: ConsumerSettings | None = None,
        key: Format | None = None,
        value: Format | None = None,
    ) -> Consumer:
        """Create a consumer, to be used in an `async with` inside the client's.

        Given topics, it starts to read when its block begins. Without a group it reads all partitions, beginning at
        `start`: earliest, latest or a Bound; None means the `reset` policy of the settings. For latest, the offsets are
        looked up when the block begins. A group member starts at the group's committed offsets, and at `start`
        (earliest or latest) in partitions without one. With `stop_at_end` the iteration stops at the end offsets (for
        read_committed: the last stable offsets) seen when the block began; this is not available in a group. Without
        topics, call `subscribe` or `assign`.

        With the formats `key` and `value` (kcli.formats) messages carry objects; batches always carry bytes. Raises
        UsageError for arguments that contradict each other.
        """
        from kcli.consumer.consumer import Consumer

        self._check("" if group is None else "joining a group")
        if group is None and self._defaults is not None and self._defaults.group.group:
            group = self._defaults.group
        if isinstance(group, str):
            group = (GroupSettings() if self._defaults is None else self._defaults.group).replace(group=group)
        if group is not None and not _of_kind("group", group, GroupSettings).group:
            raise UsageError("group: expected the name of a group, GroupSettings(group='billing')")
        own = self._own(settings, "consumer", ConsumerSettings)
        selection = None
        if topics:
            from kcli.consumer.selection import Selection, start_of

            if stop_at_end and group is not None:
                raise UsageError("stop_at_end cannot be used with a group; read without a group")
            begin = start_of(start, own.reset, group=group is not None)
            selection = Selection(
                topics=topics, group=group is not None, start=begin, stop_at_end=stop_at_end, isolation=own.isolation
            )
            if isinstance(start, str) and (group is not None or settings is None):
                own = own.replace(reset=start)
        elif start is not None or stop_at_end:
            raise UsageError("start and stop_at_end need topics: consumer('orders', …)")
        self._make_room(own)
        client, observer = self.settings, self._observer
        consumer = Consumer(
            self.cluster,
            own,
            group,
            selection=selection,
            objects=self._formats(key, value),
            rack=client.rack,
            metadata_max_age=client.metadata_max_age,
            observer=observer,
        )
        self._users.add(consumer)
        return consumer

    def share_consumer(self, settings: ConsumerSettings, share: ShareSettings) -> ShareConsumer:
        """Create a member of a share group (KIP-932), to be used in an `async with` inside the client's."""
        from kcli.consumer.share.consumer import ShareConsumer

        self._check("joining a group")
        self._make_room(_of_kind("settings", settings, ConsumerSettings))
        share = share if share.rack else share.replace(rack=self.settings.rack)
        consumer = ShareConsumer(self.cluster, settings, share, self._observer)
        self._users.add(consumer)
        return consumer

    def _formats(self, key: Format | None, value: Format | None) -> Formats | None:
        """Return the converter between objects and bytes; None if keys and values stay bytes."""
        if key is None and value is None:
            return None
        from kcli.formats import Formats

        return Formats(key, value, self._schemas_of)

    def _schemas_of(self, registry: RegistrySettings | None) -> Schemas | None:
        """Return the schemas of a format's registry (None: the client's registry). They are closed with the client."""
        if registry is None:
            return None if self._registry is None else self.schemas
        if registry not in self._opened:
            from kcli.registry.lookup import open_schemas

            own = self.settings
            self._opened[registry] = open_schemas(registry, guard=own.guard, profile=own.profile)
        return self._opened[registry]

    def _own(self, settings: Kind | None, name: str, kind: type[Kind]) -> Kind:
        """Return the given settings, or else the client's defaults."""
        if settings is not None:
            return _of_kind("settings", settings, kind)
        defaults: Kind = kind() if self._defaults is None else getattr(self._defaults, name)
        return defaults

    def _make_room(self, settings: ConsumerSettings) -> None:
        """Raise the limit for response frames to the largest response that these settings can request."""
        largest = settings.fetch_max_bytes + HEADROOM
        if largest > self.settings.max_frame:
            self.settings = self.settings.replace(max_frame=largest)

    def _check(self, change: str = "") -> None:
        """Check that a producer or consumer may be created; `change`: it can change the cluster. Raises Closed,
        UsageError.

        This only fails early: the guard of each broker connection refuses the requests themselves.
        """
        if self._forked:
            raise UsageError(FORKED)
        if self._closed:
            raise Closed("the client was closed")
        if change and self.settings.guard == "read_only":
            raise UsageError(f"refused by read-only profile {self.settings.profile}: {change} would change the cluster")


def _of_kind(name: str, given: Kind, kind: type[Kind]) -> Kind:
    """Return the given settings. Raises UsageError if they are of the wrong kind."""
    if not isinstance(given, kind):
        raise UsageError(f"{name} {shown(given)}: expected {kind.__name__}")
    return given


def _after_fork() -> None:
    """Disable all clients in the child of a fork, because their connections belong to the parent."""
    for client in _clients:
        client._forked = True
        for user in client._users:
            user.forked(UsageError(FORKED))


after_fork(_after_fork)


def keep_large_blocks() -> None:
    """Make glibc reuse freed blocks of a megabyte or more instead of returning them to the system.

    Every fetch and every batch allocates such a block. Otherwise each costs hundreds of page faults, which took 40 % of
    the CPU of a long consume. Freeing one large mapped block raises malloc's dynamic thresholds (mallopt(3),
    M_MMAP_THRESHOLD); its pages are never touched, so it uses no memory. With other C libraries this has no effect. It
    runs only once: a second block would not be mapped but cleared, which takes milliseconds.
    """
    global _kept
    if not _kept:
        bytes(LARGEST_KEPT)
        _kept = True
