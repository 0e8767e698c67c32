"""Transactions as known by their coordinators: listed per broker, described by transactional id (KIP-664)."""

from __future__ import annotations

import time
from collections.abc import Iterable

from kcli import codes
from kcli.asking.coordinators import TRANSACTION, Coordinators
from kcli.asking.fan_out import PATIENCE, ask_every, good
from kcli.errors import BrokerError, KcliError
from kcli.model import Broker, Cluster, TopicPartition
from kcli.proto.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from kcli.proto.messages.init_producer_id import InitProducerIdRequest
from kcli.proto.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from kcli.values import Value, field

STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "PrepareEpochFence",
    "Dead",
)
OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")
"""The states in which partitions wait for a marker."""
LIST_TRANSACTIONS, DURATION_SINCE, PATTERN_SINCE = 66, 1, 2
FENCE_TIMEOUT_MS = 60_000
"""The timeout that a fenced id gets, until its producer returns with its own."""


class Listed(Value):
    """A transactional id as listed by the broker that coordinates it."""

    name: str = ""
    coordinator: int = -1
    producer_id: int = -1
    state: str = ""


class Filter(Value):
    """A filter of transactions; empty fields match all. `longer_than` is in ms, `pattern` a regular expression (RE2)
    for whole ids."""

    states: list[str] = field(factory=list)
    producer_ids: list[int] = field(factory=list)
    longer_than: int = -1
    pattern: str | None = None


class Described(Value):
    """A transactional id. `started` is in ms since the epoch, -1 without a transaction; `partitions` are those that
    still wait for its markers."""

    name: str = ""
    coordinator: int = -1
    state: str = ""
    producer_id: int = -1
    epoch: int = -1
    timeout_ms: int = 0
    started: int = -1
    partitions: list[TopicPartition] = field(factory=list)

    @property
    def age(self) -> float | None:
        """Seconds since its open transaction began; None if none is open."""
        if self.started < 0 or self.state not in OPEN:
            return None
        return round(max(time.time() - self.started / 1000, 0.0), 3)


async def list_transactions(
    cluster: Cluster, wanted: Filter | None = None, *, brokers: Iterable[int] | None = None
) -> tuple[list[Listed], dict[int, KcliError]]:
    """Return the transactions coordinated by all brokers or these, by id, and the errors of brokers. One request per
    broker; a state that a broker does not know is that broker's error."""
    wanted = wanted or Filter()
    asked = set(brokers) if brokers is not None else {node.id for node in await cluster.nodes()}

    async def ask(broker: Broker) -> list[Listed]:
        highest = (await broker.versions()).get(LIST_TRANSACTIONS, (0, 0))[1]
        _check(broker, highest, wanted)
        answer = await broker.ask(
            ListTransactionsRequest(
                state_filters=wanted.states,
                producer_id_filters=wanted.producer_ids,
                duration_filter=wanted.longer_than,
                transactional_id_pattern=wanted.pattern,
            )
        )
        return _listed(broker, answer)

    answers, failed = await ask_every(cluster, sorted(asked), ask)
    return sorted((listed for some in answers.values() for listed in some), key=lambda listed: listed.name), failed


def _check(broker: Broker, highest: int, wanted: Filter) -> None:
    """Raise KcliError if the broker is too old for a filter, which it would ignore."""
    if wanted.longer_than >= 0 and highest < DURATION_SINCE:
        raise KcliError(f"broker {broker.node_id} cannot filter by duration; that needs Kafka 3.8 or newer")
    if wanted.pattern is not None and highest < PATTERN_SINCE:
        raise KcliError(f"broker {broker.node_id} cannot filter by a pattern; that needs Kafka 4.1 or newer")


def _listed(broker: Broker, answer: ListTransactionsResponse) -> list[Listed]:
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}")
    if answer.unknown_state_filters:
        raise KcliError(
            f"broker {broker.node_id} does not support the state filter {', '.join(answer.unknown_state_filters)}"
        )
    return [
        Listed(
            name=state.transactional_id,
            coordinator=broker.node_id,
            producer_id=state.producer_id,
            state=state.transaction_state,
        )
        for state in answer.transaction_states
    ]


async def describe_transactions(
    cluster: Cluster, names: Iterable[str], *, patience: float = PATIENCE
) -> dict[str, Described | KcliError]:
    """Return the state of each transactional id, or its error (TRANSACTIONAL_ID_NOT_FOUND if no producer used it
    lately). One request per coordinator."""

    async def ask(broker: Broker, some: list[str]) -> dict[str, Described | KcliError]:
        answer = await broker.ask(DescribeTransactionsRequest(transactional_ids=some))
        return {state.transactional_id: _described(broker, state) for state in answer.transaction_states}

    return await Coordinators(cluster, TRANSACTION).ask(names, ask, patience=patience)


def _described(broker: Broker, row: TransactionState) -> Described | KcliError:
    if row.error_code:
        name, api = row.transactional_id, DescribeTransactionsRequest.api_key
        return BrokerError(codes.of(row.error_code), name, api=api, transactional_id=name)
    return Described(
        name=row.transactional_id,
        coordinator=broker.node_id,
        state=row.transaction_state,
        producer_id=row.producer_id,
        epoch=row.producer_epoch,
        timeout_ms=row.transaction_timeout_ms,
        started=row.transaction_start_time_ms if row.transaction_start_time_ms > 0 else -1,
        partitions=[TopicPartition(topic.topic, n) for topic in row.topics for n in sorted(topic.partitions)],
    )


async def survey(
    cluster: Cluster, wanted: Filter | None = None, *, brokers: Iterable[int] | None = None
) -> tuple[list[tuple[Listed, Described | None]], dict[int, KcliError]]:
    """Return the transactions of `list_transactions`, open ones with their description if their coordinator returned
    it; and the errors of brokers."""
    listed, failed = await list_transactions(cluster, wanted, brokers=brokers)
    known = good(
        await describe_transactions(cluster, [transaction.name for transaction in listed if transaction.state in OPEN])
    )
    return [(transaction, known.get(transaction.name)) for transaction in listed], failed


async def fence(cluster: Cluster, name: str, *, patience: float = PATIENCE) -> tuple[int, int]:
    """Fence the producer of a transactional id: its open transaction is aborted, and the producer gets PRODUCER_FENCED.

    Returns the new (producer id, epoch). Raises KcliError, including for an unknown id, because InitProducerId would
    create it.
    """
    (known,) = (await describe_transactions(cluster, [name], patience=patience)).values()
    if isinstance(known, KcliError):
        raise known

    async def ask(broker: Broker, _: list[str]) -> dict[str, tuple[int, int] | KcliError]:
        request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=FENCE_TIMEOUT_MS)
        answer = await broker.ask(request)
        code = codes.of(answer.error_code)
        if code:
            return {name: BrokerError(code, name, api=request.api_key, transactional_id=name)}
        return {name: (answer.producer_id, answer.producer_epoch)}

    # gather retries CONCURRENT_TRANSACTIONS, which is returned while markers of the abort are being written
    (done,) = (await Coordinators(cluster, TRANSACTION).ask([name], ask, patience=patience)).values()
    if isinstance(done, KcliError):
        raise done
    return done
