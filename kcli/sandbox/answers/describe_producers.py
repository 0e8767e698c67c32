"""DescribeProducers 0 (KIP-664). The producers of a partition, and where the transaction began that its readers wait
for."""

from __future__ import annotations

from kcli.errors import BrokerError
from kcli.proto.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from kcli.sandbox.answers.partitions import led_here
from kcli.sandbox.transactions import COORDINATOR_EPOCH
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name, partitions=[_one(context, topic.name, index) for index in topic.partition_indexes]
            )
            for topic in request.topics
        ]
    )


def _one(context: RequestContext, name: str, index: int) -> PartitionResponse:
    try:
        context.cluster.topics.check_name(name)
        partition = led_here(context, 61, name, index)
    except BrokerError as refused:
        return PartitionResponse(partition_index=index, error_code=refused.code.number, error_message=str(refused))
    return PartitionResponse(
        partition_index=index,
        active_producers=[
            ProducerState(
                producer_id=producer_id,
                producer_epoch=known.epoch,
                last_sequence=known.last_sequence,
                last_timestamp=known.timestamp,
                coordinator_epoch=COORDINATOR_EPOCH if known.marked else -1,
                current_txn_start_offset=partition.log.aborted_index.open.get(producer_id, -1),
            )
            for producer_id, known in partition.producers.known.items()
        ],
    )
