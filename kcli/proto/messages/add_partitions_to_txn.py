"""AddPartitionsToTxn (API key 24): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class AddPartitionsToTxnTopic(Struct):
    name: str = ""
    partitions: list[Int32] = at(factory=list)


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: str = at("4+", default="")
    producer_id: Int64 = at("4+", default=0)
    producer_epoch: Int16 = at("4+", default=0)
    verify_only: bool = at("4+", default=False)
    topics: list[AddPartitionsToTxnTopic] = at("4+", factory=list)


class AddPartitionsToTxnRequest(Request["AddPartitionsToTxnResponse"], key=24, versions="0-5", flexible="3+"):
    """Make partitions part of a transaction (protocol v1; v4+ is for brokers, many transactions at once)."""

    transactions: list[AddPartitionsToTxnTransaction] = at("4+", factory=list)
    v3_and_below_transactional_id: str = at("0-3", default="")
    v3_and_below_producer_id: Int64 = at("0-3", default=0)
    v3_and_below_producer_epoch: Int16 = at("0-3", default=0)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = at("0-3", factory=list)


class AddPartitionsToTxnTopicResult(Struct):
    name: str = ""
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = at(factory=list)


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: Int32 = 0
    partition_error_code: Int16 = 0


class AddPartitionsToTxnResult(Struct):
    transactional_id: str = at("4+", default="")
    topic_results: list[AddPartitionsToTxnTopicResult] = at("4+", factory=list)


class AddPartitionsToTxnResponse(Response, key=24, versions="0-5", flexible="3+"):
    """The answer to AddPartitionsToTxnRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = at("4+", ignorable=True, default=0)
    results_by_transaction: list[AddPartitionsToTxnResult] = at("4+", factory=list)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = at("0-3", factory=list)
