"""Changes of transactions: fencing a producer by its transactional id, and aborting a hanging transaction in a
partition.

There are three ways to end a transaction, each for one case: its producer ends it; fencing the producer of an id that a
coordinator knows aborts the whole transaction; an abort ends a hanging transaction, which no coordinator will end,
partition by partition. None can be undone.
"""

from __future__ import annotations

import asyncio

from kcli.admin.transactions.hanging_transactions import OpenTransaction, abort, find_one, still_open
from kcli.admin.transactions.transactions import describe_transactions, fence
from kcli.changes.change import UNCHANGED, Plan, Row
from kcli.errors import KcliError
from kcli.text.numbers import duration
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import ClassVar

    from kcli.admin.transactions.producers import ProducerState
    from kcli.model import Cluster, TopicPartition


class FenceRow(Row):
    """A transactional id; `old` and `new` are the epochs of its producer."""

    state: str = ""
    age: float | None = None
    producer_id: int | None = None
    result: str = "would fence"
    words: tuple[str, str, str] = ("would fence", UNCHANGED, "fenced")
    columns: ClassVar[Sequence[str]] = "transactional_id=name state age producer_id old new result".split()


async def plan_fence(cluster: Cluster, names: Sequence[str]) -> Plan:
    """Return the plan that fences producers: a row for each transactional id."""
    rows: list[FenceRow] = []
    for name, known in (await describe_transactions(cluster, names)).items():
        row = FenceRow(name=name, about=name)
        rows.append(row)
        if isinstance(known, KcliError):
            row.settle(known)
            continue
        row.state, row.age, row.producer_id, row.old = known.state, known.age, known.producer_id, known.epoch
        row.note = f"{known.state}, open for {duration(known.age)}" if known.age else known.state

    async def one(cluster: Cluster, row: FenceRow) -> None:
        try:
            row.producer_id, row.new = await fence(cluster, row.name)
            row.settle(None)
        except KcliError as problem:
            row.settle(problem)

    async def apply(cluster: Cluster) -> None:
        await asyncio.gather(*(one(cluster, row) for row in rows if row.is_open))

    return Plan(rows=list(rows)).applied_by(apply)


class AbortRow(Row):
    """An open transaction in a partition. `idle` is the seconds since its last record, None if not looked up."""

    at: TopicPartition = field()
    producer: ProducerState = field()
    idle: float | None = None
    transactional_id: str | None = None
    result: str = "would abort"
    words: tuple[str, str, str] = ("would abort", UNCHANGED, "aborted")
    columns: ClassVar[Sequence[str]] = (
        "topic=at.topic partition=at.partition producer_id=producer.producer_id epoch=producer.epoch "
        "coordinator_epoch=producer.coordinator_epoch open_since=producer.open_since idle transactional_id result"
    ).split()


async def plan_abort(
    cluster: Cluster,
    at: TopicPartition,
    start: int | None,
    producer: ProducerState | None = None,
    *,
    force: bool = False,
) -> Plan:
    """Return the plan that aborts the transaction that begins at the offset `start` of a partition, or that of a
    `producer`, which is not looked up. It fails if a coordinator knows the transaction, unless forced."""
    found = OpenTransaction(at=at, producer=producer) if producer is not None else await _beginning(cluster, at, start)
    row = AbortRow(name=at.topic, at=at, about=f"{at.topic} [{at.partition}]", producer=found.producer)
    row.transactional_id, row.note = found.name, found.hangs or None
    if producer is None:
        row.idle, row.old = round(found.age, 3), f"open since {start}, idle for {duration(found.age)}"
        if not found.hangs and not force:
            state = f" ({found.known.state})" if found.known is not None else ""
            known = f"its coordinator knows this transaction{state} and will end it"
            part = KcliError(f"{known}; an abort here would end only part of it")
            row.settle(part.hinted("fence", name=found.name))

    async def apply(cluster: Cluster) -> None:
        row.settle(await abort(cluster, at, found.producer) or await still_open(cluster, at, found.producer))

    return Plan(rows=[row]).applied_by(apply)


async def _beginning(cluster: Cluster, at: TopicPartition, start: int | None) -> OpenTransaction:
    transactions = await find_one(cluster, at)
    for transaction in transactions:
        if transaction.producer.open_since == start:
            return transaction
    others = ", ".join(str(transaction.producer.open_since) for transaction in transactions)
    there = f"the open transactions begin at {others}" if others else "none is open"
    raise KcliError(f"{at.topic} [{at.partition}]: no open transaction begins at {start}; {there}")
