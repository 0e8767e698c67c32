"""Whether a transactional batch may be appended. Under protocol v1 its partition must have been added to the
transaction; from Produce 12 on producing adds it (KIP-890). Asked once per transaction and partition, not per batch."""

from __future__ import annotations

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from kcli.sandbox.cluster.topics import Partition
from kcli.sandbox.log.batches import TRANSACTIONAL, Header
from kcli.sandbox.transactions.transaction import ONGOING
from kcli.sandbox.wire.request_context import RequestContext

ABORTABLE_SINCE, ADDS_SINCE = 11, 12  # Produce versions


def verify(context: RequestContext, transactional_id: str | None, header: Header, partition: Partition) -> None:
    """Judge a transactional batch, or one whose producer has a transaction open. Raises BrokerError INVALID_TXN_STATE,
    TRANSACTION_ABORTABLE, TRANSACTIONAL_ID_AUTHORIZATION_FAILED, INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH,
    CONCURRENT_TRANSACTIONS, NOT_ENOUGH_REPLICAS."""
    opened = header.producer_id in partition.log.aborted_index.open
    if not header.attributes & TRANSACTIONAL:
        if opened:
            raise BrokerError(codes.INVALID_TXN_STATE, message="a plain batch in the middle of a transaction")
        return
    if transactional_id is None:
        raise BrokerError(  # Kafka's own choice of code, security or not
            codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, message="a transactional batch without a transactional id"
        )
    known = partition.producers.known.get(header.producer_id)
    if opened and known is not None and known.epoch == header.producer_epoch:
        return
    transactions, key = context.cluster.transactions, (partition.topic.name, partition.index)
    try:
        transaction = transactions.writer(transactional_id, header.producer_id, header.producer_epoch)
        if context.version >= ADDS_SINCE:
            transactions.add(transaction, [key])
        elif transaction.state != ONGOING or key not in transaction.partitions:
            raise BrokerError(
                codes.TRANSACTION_ABORTABLE if context.version >= ABORTABLE_SINCE else codes.INVALID_TXN_STATE,
                message="the partition was not added to the transaction",
            )
    except BrokerError as refused:
        raise BrokerError(_told(refused.code, context.version), message=str(refused)) from refused


def _told(code: ErrorCode, version: int) -> ErrorCode:
    """What producers expect instead of the coordinator's own codes."""
    if code is codes.PRODUCER_FENCED:
        return codes.INVALID_PRODUCER_EPOCH
    if code is codes.CONCURRENT_TRANSACTIONS and version < ADDS_SINCE:
        return codes.NOT_ENOUGH_REPLICAS  # retried by every client
    return code
