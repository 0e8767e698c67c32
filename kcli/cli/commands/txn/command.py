"""`kcli txn list`, `describe`, `producers`: what coordinators and partitions know of transactions."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kcli.admin.transactions.producers import ProducerState, describe_producers
from kcli.admin.transactions.transactions import (
    OPEN,
    STATES,
    Described,
    Filter,
    describe_transactions,
    list_transactions,
)
from kcli.asking.fan_out import good
from kcli.cli.commands.cluster.command import broker_ids
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.commands.lag.rows import stamp
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, words_of
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def list_all(values: Values) -> int:
    """`kcli txn list`."""
    wanted, brokers = _filter(values), broker_ids(values["brokers"]) or None

    async def work(cluster: Cluster, document: Document) -> None:
        found, failed = await list_transactions(cluster, wanted, brokers=brokers)
        for node, problem in failed.items():
            document.fail(problem, f"broker {node}")
        known = good(await describe_transactions(cluster, [one.name for one in found if one.state in OPEN]))
        document.rows["transactions"] = [
            {
                "transactional_id": one.name,
                "coordinator": one.coordinator,
                "producer_id": one.producer_id,
                "state": one.state,
                **_progress(known.get(one.name)),
            }
            for one in found
        ]

    return answer(values, "txn.list", work)


def _progress(one: Described | None) -> Row:
    """What only an open transaction has."""
    if one is None or age(one) is None:
        return {"age": None, "timeout": None, "partitions": None}
    return {"age": age(one), "timeout": one.timeout_ms / 1000, "partitions": len(one.partitions)}


def _filter(values: Values) -> Filter:
    """Raises UsageError for a state that there is not, and a producer id that is none."""
    states = []
    folded = {state.lower(): state for state in STATES}
    for text in values["txn_states"]:
        state = folded.get(text.lower().replace("-", "").replace("_", ""))
        if state is None:
            from kcli.text.suggest import did_you_mean

            near = did_you_mean(text, STATES) or f"; there are {', '.join(STATES)}"
            raise UsageError(f"--state {text}: transactions have no such state{near}")
        states.append(state)
    if values["open"]:
        states += [state for state in OPEN if state not in states]
    for text in values["producer_ids"]:
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise UsageError(f"--producer-id {text}: expected a whole number")
    longer = milliseconds(values["longer_than"], "--longer-than")
    return Filter(
        states=states,
        producer_ids=[int(text) for text in values["producer_ids"]],
        longer_than=-1 if longer is None else longer,
        pattern=values["pattern"],
    )


def describe(values: Values) -> int:
    """`kcli txn describe TXN...`."""
    names = words_of(values, "transactional id")

    async def work(cluster: Cluster, document: Document) -> None:
        found = await describe_transactions(cluster, names)
        rows = document.rows["transactions"] = []
        for name, one in found.items():
            if isinstance(one, KcliError):
                document.fail(one, name)
            else:
                rows.append(_described(one))
        described = list(good(found).values())
        states = good(await describe_producers(cluster, {at for one in described for at in one.partitions}))
        document.rows["partitions"] = [
            _waiting(one, at, states.get(at, [])) for one in described for at in one.partitions
        ]

    return answer(values, "txn.describe", work)


def _described(one: Described) -> Row:
    return {
        "transactional_id": one.name,
        "coordinator": one.coordinator,
        "producer_id": one.producer_id,
        "epoch": one.epoch,
        "state": one.state,
        "timeout": one.timeout_ms / 1000,
        "started": moment(one.started),
        "age": age(one),
        "error": None,
    }


def _waiting(one: Described, at: TopicPartition, states: Iterable[ProducerState]) -> Row:
    """A partition of a transaction; its figures are null where the leader knows nothing of the producer: nothing was
    written there yet, or it may not be asked."""
    state = next((state for state in states if state.producer_id == one.producer_id), None)
    return {
        "transactional_id": one.name,
        "topic": at.topic,
        "partition": at.partition,
        "open_since": state.open_since if state is not None else None,
        "last_write": moment(state.last_timestamp) if state is not None else None,
        "idle": since(state.last_timestamp) if state is not None and state.last_timestamp >= 0 else None,
    }


def producers(values: Values) -> int:
    """`kcli txn producers TOPIC[:0,1]...`."""
    scope = Scope(words_of(values, "TOPIC"))

    async def work(cluster: Cluster, document: Document) -> None:
        parts = await scope.partitions(cluster, ())
        rows = document.rows["producers"] = []
        for at, states in (await describe_producers(cluster, parts, replica=values["broker"])).items():
            if isinstance(states, KcliError):
                document.fail(states, f"{at.topic} [{at.partition}]")
                continue
            states = [one for one in states if one.open_since is not None or not values["open"]]
            rows += [_producer(at, one) for one in sorted(states, key=lambda one: -one.last_timestamp)]

    return answer(values, "txn.producers", work)


def _producer(at: TopicPartition, one: ProducerState) -> Row:
    return {
        "topic": at.topic,
        "partition": at.partition,
        "producer_id": one.producer_id,
        "epoch": one.epoch,
        "coordinator_epoch": one.coordinator_epoch,
        "last_sequence": one.last_sequence,
        "last_write": moment(one.last_timestamp),
        "idle": since(one.last_timestamp) if one.last_timestamp >= 0 else None,
        "open_since": one.open_since,
    }


# -- what the files of `txn` share ------------------------------------------------------------------------------------


def age(one: Described) -> float | None:
    """Seconds since its open transaction began; None where none is open."""
    return since(one.started) if one.started >= 0 and one.state in OPEN else None


def since(ms: int) -> float:
    """Seconds from a moment in ms since the epoch until now, never below zero."""
    return round(max(time.time() - ms / 1000, 0.0), 3)


def moment(ms: int) -> str | None:
    """A time in ms since the epoch as ISO 8601, UTC; None for none and for what no calendar has."""
    try:
        return stamp(ms / 1000) if ms >= 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def milliseconds(text: str | None, flag: str) -> int | None:
    """A duration such as 30, 30s, 5m or 1h30m. Raises UsageError."""
    if text is None:
        return None
    from kcli.grammar.offsets import duration

    found = int(text) * 1000 if text.isascii() and text.isdecimal() and len(text) < 12 else duration(text)
    if found is None:
        raise UsageError(f"{flag} {text}: expected a duration such as 30s, 5m or 1h30m")
    return found
