"""InitProducerId (API key 22): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, at


class InitProducerIdRequest(Request["InitProducerIdResponse"], key=22, versions="0-5", flexible="2+"):
    """A producer id and epoch, for idempotence and transactions."""

    transactional_id: str | None = at(null="0+", default="")
    transaction_timeout_ms: Int32 = 0
    producer_id: Int64 = at("3+", default=-1)
    producer_epoch: Int16 = at("3+", default=-1)
    enable2_pc: bool = at("6+", default=False)
    keep_prepared_txn: bool = at("6+", default=False)


class InitProducerIdResponse(Response, key=22, versions="0-5", flexible="2+"):
    """The answer to InitProducerIdRequest."""

    throttle_time_ms: Int32 = at(ignorable=True, default=0)
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16 = 0
    ongoing_txn_producer_id: Int64 = at("6+", default=-1)
    ongoing_txn_producer_epoch: Int16 = at("6+", default=-1)
