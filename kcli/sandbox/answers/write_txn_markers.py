"""WriteTxnMarkers 1-2 (KIP-98, 664): the word of a coordinator, or of an operator to a hanging transaction. Leaders
take it as it is, as Kafka's do: whether another coordinator would have ended the transaction is not checked. 2 adds the
protocol of the transaction (KIP-1228), which changes nothing here."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kcli.sandbox.answers.partitions import led_here
from kcli.sandbox.transactions import COORDINATOR_EPOCH, end_in
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(
                        name=topic.name,
                        partitions=[
                            WritableTxnMarkerPartitionResult(
                                partition_index=index, error_code=_write(context, marker, topic.name, index)
                            )
                            for index in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
            if any(topic.partition_indexes for topic in marker.topics)
        ]
    )


def _write(context: RequestContext, marker: WritableTxnMarker, name: str, index: int) -> int:
    """The error code, 0 when the marker is in the log."""
    try:
        if context.broker.node_id not in context.cluster.topics.partition(name, index).replicas:
            raise BrokerError(codes.UNKNOWN_TOPIC_OR_PARTITION)
        partition = led_here(context, 27, name, index)
        if marker.producer_id < 0 or marker.producer_epoch < 0:
            raise BrokerError(codes.UNKNOWN_SERVER_ERROR)
        known = partition.producers.known.get(marker.producer_id)
        if known is not None and marker.producer_epoch < known.epoch:
            raise BrokerError(codes.INVALID_PRODUCER_EPOCH)
        if known is not None and known.marked and marker.coordinator_epoch < COORDINATOR_EPOCH:
            raise BrokerError(codes.TRANSACTION_COORDINATOR_FENCED)
        end_in(partition, marker.producer_id, marker.producer_epoch, commit=marker.transaction_result)
    except BrokerError as refused:
        return refused.code.number
    return 0
