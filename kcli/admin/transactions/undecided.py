"""Why a read_committed consumer does not advance: the open transaction at the last stable offset, in words."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.transactions.hanging_transactions import OpenTransaction, find_open
from kcli.errors import KcliError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.model import Cluster, TopicPartition

PATIENCE = 5.0
"""Seconds within which leaders and coordinators have to name the transaction."""


async def undecided(
    cluster: Cluster, ends: Mapping[TopicPartition, tuple[int, int]], *, ended: bool = False
) -> str | None:
    """Return why nothing is read past the last stable offset: how many offsets are undecided, and by which transaction.

    `ends` has the last stable offset and the high watermark of each partition. None if no transaction is open any more,
    unless a read has `ended` there. If the cluster does not name the transaction, the name is omitted.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            search = await find_open(cluster, ends, older_than=0.0, patience=PATIENCE)
    except (KcliError, TimeoutError):  # the sentence is true without the name
        first, known = {}, False
    else:
        first, known = _first(search.transactions), not search.failed
    held = {at: end for at, end in ends.items() if at in first or ended or not known}
    if not held:
        return None
    at = min(held)
    stable, end = held[at]
    count = end - stable
    verb, number = "ends" if ended else "waits", f"{count:,} offset{' is' if count == 1 else 's are'}"
    more = f", and likewise in {len(held) - 1} more partition{'s' * (len(held) > 2)}" if len(held) > 1 else ""
    return (
        f"{at.topic}[{at.partition}] {verb} at offset {stable}: {number} undecided, because {_named(first.get(at))} is "
        f"open{more}"
    )


def _first(transactions: list[OpenTransaction]) -> dict[TopicPartition, OpenTransaction]:
    """Return the earliest open transaction of each partition, at whose start the last stable offset is."""
    first: dict[TopicPartition, OpenTransaction] = {}
    for transaction in sorted(transactions, key=lambda one: one.producer.open_since or 0):
        first.setdefault(transaction.at, transaction)
    return first


def _named(transaction: OpenTransaction | None) -> str:
    if transaction is None:
        return "a transaction"
    if transaction.name is None:
        return f"a transaction of producer id {transaction.producer.producer_id}"
    return f"transaction {transaction.name}"
