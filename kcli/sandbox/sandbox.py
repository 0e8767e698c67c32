"""The sandbox: an embedded Kafka cluster in one process, for trying things out and for tests. Not a production broker.

In memory it ends with the process. With `data` it lives in a directory: every acknowledged record, topic, committed
offset, producer sequence and step of a transaction survives the death of the process (kill -9), because it was handed
to the operating system with write() before it was acknowledged. fsync happens only at a clean close: a power cut may
lose the last seconds. After either a decided transaction is completed, and an open one aborted at its timeout.
"""

from __future__ import annotations

import os
import time
from binascii import b2a_base64, crc32

from kcli import codes
from kcli.errors import BrokerError, UsageError
from kcli.sandbox.access.access import Access
from kcli.sandbox.cluster.broker_configs import BrokerConfigs
from kcli.sandbox.cluster.features import Features
from kcli.sandbox.cluster.named_configs import NamedConfigs
from kcli.sandbox.cluster.quorum import Quorum
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.faults.cluster import ClusterFaults
from kcli.sandbox.faults.faults import Faults
from kcli.sandbox.faults.logs import LogFaults
from kcli.sandbox.faults.planned import Planned
from kcli.sandbox.faults.wire import WireFaults
from kcli.sandbox.log.segment import MemoryStore
from kcli.sandbox.settings import SandboxSettings
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.client_rules import ClientRules
from kcli.sandbox.wire.listener import possible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ssl import SSLContext
    from typing import Any, Self

    from kcli.sandbox.access.sasl import Users
    from kcli.sandbox.cluster.moves import Moves
    from kcli.sandbox.cluster.quotas import Quotas
    from kcli.sandbox.cluster.topics import Partition, Topic
    from kcli.sandbox.faults.control import Control
    from kcli.sandbox.groups.groups import Groups
    from kcli.sandbox.log.recovery import DataDirectory, State
    from kcli.sandbox.log.segment import Store
    from kcli.sandbox.transactions.transactions import Transactions

FIRST_NODE = 1
TOLD_AGAIN = 60.0  # seconds
GROUP, TRANSACTION = 0, 1  # kinds of coordinators, as FindCoordinator numbers them
FIRST_PRODUCER_ID = 1000


class Sandbox:
    """`async with Sandbox(topics={"t": 3}) as sandbox:` then connect to `sandbox.bootstrap`.

    Takes `SandboxSettings`, or their fields as keyword arguments, or both: then the arguments change the settings.
    Raises UsageError for a host that is not loopback, a feature it does not have or a directory in use, OSError for a
    port that is taken.
    """

    def __init__(self, settings: SandboxSettings | None = None, **options: Any) -> None:
        self.settings = settings = (settings or SandboxSettings()).replace(**options)
        settings.check()
        self.access = Access(self.note, settings.sasl or {}, settings.super_users, settings.everyone)
        self.tls: SSLContext | None = None
        self.users: Users | None = None
        self._secure(settings)
        self._connections = possible() if settings.connections is None else settings.connections
        self._told: dict[str, float] = {}
        self.broker_configs = BrokerConfigs()
        self.named_configs = NamedConfigs()
        self.brokers = [
            SandboxBroker(self, FIRST_NODE + n, settings.host, settings.port + n if settings.port else 0)
            for n in range(settings.brokers)
        ]
        self.features = Features(settings.features)
        self.quorum = Quorum(self)
        self.coordinators: dict[str, int] = {}  # groups whose coordinator was moved (a fault)
        self.transaction_coordinators: dict[str, int] = {}  # the same for transactional ids
        self.seen: dict[int, int] = {}  # how many requests of each API key came
        self.requests_held = 0  # bytes of requests that came and are not answered, of all connections
        self.cluster_id = b2a_base64(os.urandom(16), newline=False).decode().rstrip("=").translate({43: 45, 47: 95})
        self.control: Control | None = None
        if settings.control:
            from kcli.sandbox.faults.control import Control

            self.control = Control(self)
        self._bytes = 0
        self._next_producer = FIRST_PRODUCER_ID
        self._next_session = 0
        self._failures: list[Exception] = []
        self._directory: DataDirectory | None = None
        self._groups: Groups | None = None
        self._moves: Moves | None = None
        self._quotas: Quotas | None = None
        self._transactions: Transactions | None = None
        self.topics = Topics([one.node_id for one in self.brokers], self._store, self.note)
        self.client_rules = ClientRules(self.topics, durable=settings.data is not None)
        planned = Planned()
        self.faults = Faults(
            planned,
            WireFaults(planned, self.brokers),
            ClusterFaults(planned, self.brokers, self.topics, self.coordinators, lambda: self.groups),
            LogFaults(planned, self.topics, self.client_rules, self._producer),
        )

    def rack(self, node_id: int) -> str | None:
        """The rack of a broker, if the settings have racks."""
        return self.settings.rack(node_id - FIRST_NODE)

    def _secure(self, settings: SandboxSettings) -> None:
        if settings.tls is not None:
            from kcli.sandbox.access.tls import server_context

            self.tls = server_context(settings.tls)
        if settings.sasl is not None:
            from kcli.sandbox.access.sasl import ALL, Users

            mechanisms = ALL if settings.mechanisms is None else settings.mechanisms
            self.users = Users(settings.sasl, mechanisms, settings.session_lifetime, self.access)

    @property
    def groups(self) -> Groups:
        """The group coordinator, imported when the first group comes."""
        if self._groups is None:
            from kcli.sandbox.groups.groups import Groups

            self._groups = Groups(self)
        return self._groups

    @property
    def transactions(self) -> Transactions:
        """The transaction coordinator, imported when the first transactional id comes."""
        if self._transactions is None:
            from kcli.sandbox.transactions.transactions import Transactions

            self._transactions = Transactions(self)
        return self._transactions

    @property
    def moves(self) -> Moves:
        """The moves of replicas, imported when the first is asked for."""
        if self._moves is None:
            from kcli.sandbox.cluster.moves import Moves

            self._moves = Moves(self)
        return self._moves

    @property
    def limited(self) -> bool:
        """Whether anybody has a quota."""
        return self._quotas is not None and bool(self._quotas.by_entity)

    @property
    def quotas(self) -> Quotas:
        """The client quotas, imported when the first is asked for."""
        if self._quotas is None:
            from kcli.sandbox.cluster.quotas import Quotas

            self._quotas = Quotas(self.note)
        return self._quotas

    # -- life -------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Recover what was on disk, then listen."""
        try:
            if self.settings.data is not None:
                from kcli.sandbox.log.recovery import DataDirectory

                self._directory = DataDirectory(self.settings.data)
                self._recover(self._directory.recover())
            for name, count in self.settings.topics.items():
                if name not in self.topics.by_name:
                    self.topics.create(name, count)
            for one in self.brokers:
                await one.start()
            if self.control is not None:
                await self.control.start()
        except BaseException:
            await self.close()
            raise

    def _recover(self, state: State) -> None:
        self._next_producer = max(self._next_producer, state.producer_id)
        for facts in state.topics.values():
            self.topics.restore(facts)
        if state.groups or state.offsets or state.pending:
            self.groups.restore(state)
        if state.transactions:
            self.transactions.restore(state)
        self.broker_configs.by_broker = {name: dict(kept) for name, kept in state.broker_configs.items()}
        self.named_configs.metrics = {name: dict(kept) for name, kept in state.client_metrics.items()}
        self.features.restore(state.features)
        self.access.restore(state)
        if state.quotas:
            self.quotas.restore(state.quotas.values())
        if state.cluster_id:
            self.cluster_id = state.cluster_id
        else:
            self.note("cluster", {"id": self.cluster_id})

    async def close(self) -> None:
        """Stop listening, flush to the disk, let the directory go. Raises the first failure of a request, if one was
        a bug of the sandbox."""
        if self.control is not None:
            await self.control.close()
        for one in self.brokers:
            await one.stop()
        if self._groups is not None:
            self._groups.close()
        if self._transactions is not None:
            self._transactions.close()
        if self._moves is not None:
            self._moves.close()
        self.topics.close()
        if self._directory is not None:
            self._directory.close()
            self._directory = None
        if self._failures:
            raise self._failures[0]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def failed(self, bug: Exception) -> None:
        """A request met a bug of ours; `close` tells."""
        self._failures.append(bug)

    @property
    def violations(self) -> list[str]:
        """What kcli did here that a good client never does; see wire/client_rules.py."""
        return self.client_rules.violations

    # -- who comes in -------------------------------------------------------------------------------------------------

    def admits(self) -> bool:
        """Whether one more may connect. When all places are taken, whoever has held one longest and asked for nothing
        goes; when there is no such one, nobody comes in."""
        if sum(one.connections for one in self.brokers) < self._connections:
            return True
        quiet = [link for one in self.brokers if (link := one.quiet_link()) is not None]
        room = bool(quiet) or any(one.turn_away() for one in self.brokers)
        what = "the oldest that asked for nothing was closed" if room else "no more are let in"
        self.tell("connections", f"{self._connections} connections are open, as many as there may be: {what}")
        if not quiet:
            return room
        oldest = min(quiet, key=lambda link: link.since)
        oldest.broker.unlinked(oldest)  # now, for more may come before it is gone
        oldest.abort()
        return True

    def no_more_files(self, problem: OSError) -> None:
        """The system gives no more."""
        self.tell("files", f"no connection can be taken for now: {problem.strerror} (`ulimit -n` says how many)")

    def tell(self, kind: str, sentence: str) -> None:
        """Say something to who runs the sandbox, of each kind at most once a minute."""
        now = time.monotonic()
        if self.settings.tell is not None and now - self._told.get(kind, -TOLD_AGAIN) >= TOLD_AGAIN:
            self._told[kind] = now
            self.settings.tell(sentence)

    # -- the cluster ------------------------------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        """host:port of every broker, with commas."""
        host = self.settings.advertised_host
        literal = f"[{host}]" if ":" in host else host
        return ",".join(f"{literal}:{one.port}" for one in self.brokers)

    def living(self) -> list[SandboxBroker]:
        return [one for one in self.brokers if one.alive]

    def fenced(self) -> list[SandboxBroker]:
        """Brokers that are registered and down."""
        return [one for one in self.brokers if not one.alive and one.registered]

    @property
    def controller_id(self) -> int:
        living = self.living()
        return living[0].node_id if living else -1

    def coordinator(self, key: str, kind: int = GROUP) -> SandboxBroker | None:
        """The living broker that coordinates a GROUP or the TRANSACTION of an id, None when none lives or the appointed
        one is down."""
        living = self.living()
        moved = (self.coordinators if kind == GROUP else self.transaction_coordinators).get(key)
        if moved is not None:
            return next((one for one in living if one.node_id == moved), None)
        return living[crc32(key.encode()) % len(living)] if living else None

    # -- what the answers share ---------------------------------------------------------------------------------------

    def note(self, kind: str, facts: dict[str, Any]) -> None:
        """Write a fact to the journal, if there is one. Raises BrokerError KAFKA_STORAGE_ERROR."""
        if self._directory is None:
            return
        try:
            self._directory.note(kind, facts)
        except OSError as refused:
            raise BrokerError(codes.KAFKA_STORAGE_ERROR, message=f"the disk refused: {refused}") from refused

    def _store(self, topic: str, topic_id: bytes, partition: int) -> Store:
        return MemoryStore() if self._directory is None else self._directory.store(topic, topic_id, partition)

    def find_or_create(self, name: str) -> Topic | None:
        """The topic, made now if auto creation is on. Raises BrokerError INVALID_TOPIC_EXCEPTION."""
        found = self.topics.by_name.get(name)
        if found is None and self.settings.auto_create:
            found = self.topics.create(name, self.settings.partitions)
        return found

    def make_room(self, partition: Partition, size: int) -> None:
        """Before `size` bytes are appended: delete what retention.bytes says. Raises BrokerError POLICY_VIOLATION when
        the sandbox's memory would be exceeded."""
        limit = partition.topic.number("retention.bytes")
        if limit >= 0:
            partition.log.keep_bytes(max(limit - size, 0))
        if self._directory is not None:
            return
        self._bytes += size
        if self._bytes > self.settings.memory:
            logs = (p.log for topic in self.topics.by_name.values() for p in topic.partitions)
            self._bytes = sum(log.size for log in logs) + size
            if self._bytes > self.settings.memory:
                self._bytes -= size
                raise BrokerError(
                    codes.POLICY_VIOLATION,
                    message=f"the sandbox's memory of {self.settings.memory} bytes is full: delete topics or records, "
                    "set retention.bytes, or keep the data on disk",
                )

    def next_producer_id(self) -> int:
        given = self._next_producer
        self._next_producer += 1
        self.note("producer", {"next": self._next_producer})
        return given

    def _producer(self, transactional_id: str | None) -> tuple[int, int]:
        """The (id, epoch) of a transactional id, or new ones. Raises UsageError for an id that nobody has used."""
        if transactional_id is None:
            return self.next_producer_id(), 0
        transaction = self.transactions.by_id.get(transactional_id)
        if transaction is None:
            raise UsageError(f"nobody has used the transactional id {transactional_id}")
        return transaction.producer_id, transaction.epoch

    def next_session_id(self) -> int:
        self._next_session = self._next_session % 0x7FFFFFFF + 1
        return self._next_session
