"""An open transaction in a partition, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.transactions.hanging_transactions import OpenTransaction
from kcli.cli.commands.txn.times import moment

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row


def where(transaction: OpenTransaction) -> Row:
    """The partition of a transaction."""
    return {"topic": transaction.at.topic, "partition": transaction.at.partition}


def who(transaction: OpenTransaction) -> Row:
    """The producer of a transaction, and how long it has written nothing."""
    return {
        "producer_id": transaction.producer.producer_id,
        "epoch": transaction.producer.epoch,
        "coordinator_epoch": transaction.producer.coordinator_epoch,
        "open_since": transaction.producer.open_since,
        "last_write": moment(transaction.producer.last_timestamp),
        "idle": round(transaction.age, 3),
        "transactional_id": transaction.name,
    }
