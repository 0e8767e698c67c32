"""AddOffsetsToTxn (API key 25): versions 0-4."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response


class AddOffsetsToTxnRequest(Request["AddOffsetsToTxnResponse"], key=25, versions="0-4", flexible="3+"):
    """Make a group's offsets part of a transaction (protocol v1)."""

    transactional_id: str = ""
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    group_id: str = ""


class AddOffsetsToTxnResponse(Response, key=25, versions="0-4", flexible="3+"):
    """The answer to AddOffsetsToTxnRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
