"""The cluster of a sandbox: its parts, each created with the parts that it uses. It has no ports or sockets; `wire/`
delivers requests, `answers/` reads and changes the parts."""

from __future__ import annotations

import os
from binascii import b2a_base64
from typing import TYPE_CHECKING

from kcli import codes
from kcli.errors import BrokerError, UsageError
from kcli.sandbox.access.access import Access
from kcli.sandbox.access.quotas import Quotas
from kcli.sandbox.access.sasl import Users
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.cluster.moves import Moves
from kcli.sandbox.cluster.quorum import Features, Quorum
from kcli.sandbox.cluster.topics import Partition, Topic, Topics
from kcli.sandbox.configs.broker_configs import BrokerConfigs
from kcli.sandbox.configs.named_configs import NamedConfigs
from kcli.sandbox.faults.control import Control
from kcli.sandbox.faults.faults import Faults
from kcli.sandbox.faults.wire import RegistryFaults
from kcli.sandbox.groups.groups import Groups
from kcli.sandbox.log.recovery import Journal, State
from kcli.sandbox.settings import SandboxSettings
from kcli.sandbox.transactions import ProducerIds, Transactions
from kcli.sandbox.wire.broker import SandboxBroker
from kcli.sandbox.wire.client_rules import ClientRules
from kcli.sandbox.wire.share_sessions import ShareSessions

if TYPE_CHECKING:
    from kcli.sandbox.cluster.telemetry import Telemetry
    from kcli.sandbox.registry.registry import Registry


class SandboxCluster:
    """Parts that few requests need are imported and created by the first request that needs them."""

    def __init__(self, settings: SandboxSettings, brokers: Brokers, journal: Journal) -> None:
        self.settings = settings
        self.brokers = brokers
        self.journal = journal
        self.id = b2a_base64(os.urandom(16), newline=False).decode().rstrip("=").translate({43: 45, 47: 95})
        self.access = Access(journal.note, settings.sasl or {}, settings.super_users, settings.everyone)
        self.users = self._users(settings)
        self.features = Features(settings.features, settings.kafka_version)
        self.broker_configs = BrokerConfigs()
        self.topics = Topics(brokers.node_ids, journal.store, journal.note, self.broker_configs.topic_default)
        self.retention = Retention(self.topics, settings.memory if settings.data is None else None)
        self.client_rules = ClientRules(self.topics, durable=settings.data is not None)
        self.share_sessions: dict[int, ShareSessions] = {}  # by node id
        self.control: Control | None = None
        self.registry: Registry | None = self._registry() if settings.registry else None
        self.faults = Faults(
            brokers,
            self.topics,
            self.client_rules,
            lambda: self.groups,
            self.share_sessions,
            self._producer,
            RegistryFaults(settings.registry),
        )
        self._groups: Groups | None = None
        self._moves: Moves | None = None
        self._named_configs: NamedConfigs | None = None
        self._producer_ids: ProducerIds | None = None
        self._quorum: Quorum | None = None
        self._quotas: Quotas | None = None
        self._telemetry: Telemetry | None = None
        self._transactions: Transactions | None = None

    def _users(self, settings: SandboxSettings) -> Users | None:
        """The users of SASL; None on listeners without it."""
        if settings.sasl is None:
            return None
        from kcli.sandbox.access.sasl import ALL, Users

        mechanisms = ALL if settings.mechanisms is None else settings.mechanisms
        return Users(settings.sasl, mechanisms, settings.session_lifetime, self.access)

    def _registry(self) -> Registry:
        from kcli.sandbox.registry.registry import Registry

        return Registry(self.journal.note)

    # -- parts created on first use -----------------------------------------------------------------------------------

    @property
    def groups(self) -> Groups:
        """The group coordinator."""
        if self._groups is None:
            from kcli.sandbox.groups.groups import Groups

            self._groups = Groups(
                self.journal.note, self.topics, self.settings.rebalance_delay, self.settings.migration_policy
            )
        return self._groups

    @property
    def transactions(self) -> Transactions:
        """The transaction coordinator."""
        if self._transactions is None:
            from kcli.sandbox.transactions import Transactions

            self._transactions = Transactions(
                self.journal.note, self.producer_ids, self.features, self.brokers, self.topics, self._settle
            )
        return self._transactions

    def _settle(self, producer_id: int, group: str, *, commit: bool) -> None:
        self.groups.pending.settle(producer_id, group, commit=commit)

    @property
    def moves(self) -> Moves:
        """The moves of replicas."""
        if self._moves is None:
            from kcli.sandbox.cluster.moves import Moves

            self._moves = Moves(self.brokers, self.topics, self.broker_configs)
        return self._moves

    @property
    def named_configs(self) -> NamedConfigs:
        """Configs of client metrics and of loggers."""
        if self._named_configs is None:
            from kcli.sandbox.configs.named_configs import NamedConfigs

            self._named_configs = NamedConfigs()
        return self._named_configs

    @property
    def telemetry(self) -> Telemetry:
        """The metrics that clients push."""
        if self._telemetry is None:
            from kcli.sandbox.cluster.telemetry import Telemetry

            self._telemetry = Telemetry(self.named_configs)
        return self._telemetry

    @property
    def producer_ids(self) -> ProducerIds:
        if self._producer_ids is None:
            from kcli.sandbox.transactions import ProducerIds

            self._producer_ids = ProducerIds(self.journal.note)
        return self._producer_ids

    @property
    def quorum(self) -> Quorum:
        """The KRaft quorum that the brokers seem to be."""
        if self._quorum is None:
            from kcli.sandbox.cluster.quorum import Quorum

            self._quorum = Quorum(self.brokers, self.features, self.topics, lambda: self.id)
        return self._quorum

    @property
    def limited(self) -> bool:
        """Whether there is any client quota."""
        return self._quotas is not None and bool(self._quotas.by_entity)

    @property
    def quotas(self) -> Quotas:
        """The client quotas."""
        if self._quotas is None:
            from kcli.sandbox.access.quotas import Quotas

            self._quotas = Quotas(self.journal.note)
        return self._quotas

    def share_sessions_of(self, broker: SandboxBroker) -> ShareSessions:
        """The share sessions of a broker."""
        sessions = self.share_sessions.get(broker.node_id)
        if sessions is None:
            from kcli.sandbox.wire.share_sessions import ShareSessions

            sessions = self.share_sessions[broker.node_id] = ShareSessions(self.groups.shared, broker.node_id)
            broker.on_disconnect.append(sessions.disconnected)
        return sessions

    # -- operations on several parts ----------------------------------------------------------------------------------

    def find_or_create(self, name: str) -> Topic | None:
        """Return the topic, created if auto creation is on. Raises BrokerError INVALID_TOPIC_EXCEPTION."""
        topic = self.topics.by_name.get(name)
        if topic is None and self.settings.auto_create:
            topic = self.topics.create(name, self.settings.partitions)
        return topic

    def _producer(self, transactional_id: str | None) -> tuple[int, int]:
        """The (id, epoch) of a transactional id, or new ones. Raises UsageError for an unused id."""
        if transactional_id is None:
            return self.producer_ids.next(), 0
        transaction = self.transactions.by_id.get(transactional_id)
        if transaction is None:
            raise UsageError(f"no producer has used the transactional id {transactional_id}")
        return transaction.producer_id, transaction.epoch

    # -- life ---------------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Restore the state in the journal, then create the topics of the settings. Needs a running loop."""
        state = self.journal.open()
        if state is not None:
            self._restore(state)
        for name, count in self.settings.topics.items():
            if name not in self.topics.by_name:
                self.topics.create(name, count)

    def _restore(self, state: State) -> None:
        if state.producer_id:
            self.producer_ids.restore(state.producer_id)
        for facts in state.topics.values():
            self.topics.restore(facts)
        if state.groups or state.offsets or state.pending:
            self.groups.restore(state)
        if state.transactions:
            self.transactions.restore(state)
        self.broker_configs.by_broker |= {name: dict(kept) for name, kept in state.broker_configs.items()}
        if state.client_metrics:
            self.named_configs.metrics = {name: dict(kept) for name, kept in state.client_metrics.items()}
        self.features.restore(state.features)
        self.access.restore(state)
        if self.registry is not None:
            self.registry.restore(state.registry)
        if state.quotas:
            self.quotas.restore(state.quotas.values())
        if state.cluster_id:
            self.id = state.cluster_id
        else:
            self.journal.note("cluster", {"id": self.id})

    def close(self) -> None:
        """Stop all timers, flush to disk, and release the directory."""
        for part in (self._groups, self._transactions, self._moves, self.topics, self.journal):
            if part is not None:
                part.close()


class Retention:
    """`memory` limits the bytes of records of all topics together; None for no limit."""

    def __init__(self, topics: Topics, memory: int | None) -> None:
        self._topics = topics
        self._memory = memory
        self._bytes = 0  # an upper bound: deletions since the last count are still included

    def make_room(self, partition: Partition, size: int) -> None:
        """Call this before `size` bytes are appended: deletes by retention.bytes. Raises BrokerError POLICY_VIOLATION
        if the sandbox's memory limit would be exceeded."""
        limit = partition.topic.number("retention.bytes")
        if limit >= 0:
            partition.log.keep_bytes(max(limit - size, 0))
        if self._memory is None:
            return
        self._bytes += size
        if self._bytes > self._memory:
            logs = (p.log for topic in self._topics.by_name.values() for p in topic.partitions)
            self._bytes = sum(log.size for log in logs) + size
            if self._bytes > self._memory:
                self._bytes -= size
                raise BrokerError(
                    codes.POLICY_VIOLATION,
                    message=f"the sandbox's memory of {self._memory} bytes is full: delete topics or records, "
                    "set retention.bytes, or keep the data on disk",
                )
