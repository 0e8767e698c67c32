"""ListTransactions (API key 66): versions 0-2."""

from __future__ import annotations

from kcli.proto.schema import Int16, Int32, Int64, Request, Response, Struct, at


class ListTransactionsRequest(Request["ListTransactionsResponse"], key=66, versions="0-2", flexible="0+"):
    """The transactions a broker coordinates."""

    state_filters: list[str] = at(factory=list)
    producer_id_filters: list[Int64] = at(factory=list)
    duration_filter: Int64 = at("1+", default=-1)
    transactional_id_pattern: str | None = at("2+", null="2+", default=None)


class TransactionState(Struct):
    transactional_id: str = ""
    producer_id: Int64 = 0
    transaction_state: str = ""


class ListTransactionsResponse(Response, key=66, versions="0-2", flexible="0+"):
    """The answer to ListTransactionsRequest."""

    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    unknown_state_filters: list[str] = at(factory=list)
    transaction_states: list[TransactionState] = at(factory=list)
