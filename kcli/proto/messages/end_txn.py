"""EndTxn (API key 26): versions 0-5."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, at


class EndTxnRequest(Request["EndTxnResponse"], key=26, versions="0-5", flexible="3+"):
    """Commit or abort a transaction; from v5 the answer carries the next producer epoch (KIP-890)."""

    transactional_id: str = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    committed: bool = False


class EndTxnResponse(Response, key=26, versions="0-5", flexible="3+"):
    """The answer to EndTxnRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = at("5+", ignorable=True, default=-1)
    producer_epoch: Int16 = at("5+", ignorable=True, default=-1)
