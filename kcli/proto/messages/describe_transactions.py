"""DescribeTransactions (API key 65): versions 0."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class DescribeTransactionsRequest(Request["DescribeTransactionsResponse"], key=65, versions="0", flexible="0+"):
    """State and partitions of transactions."""

    transactional_ids: list[str] = at(factory=list)


class TopicData(Struct):
    topic: str = ""
    partitions: list[Int32] = at(factory=list)


class TransactionState(Struct):
    error_code: Int16 = 0
    transactional_id: str = ""
    transaction_state: str = ""
    transaction_timeout_ms: Int32 = 0
    transaction_start_time_ms: Int64 = 0
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    topics: list[TopicData] = at(factory=list)


class DescribeTransactionsResponse(Response, key=65, versions="0", flexible="0+"):
    """The answer to DescribeTransactionsRequest."""

    throttle_time_ms: Int32 = 0
    transaction_states: list[TransactionState] = at(factory=list)
