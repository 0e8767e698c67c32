"""WriteTxnMarkers (API key 27): versions 1-2."""

from __future__ import annotations

from kcli.proto.schema import Int8, Int16, Int32, Int64, Request, Response, Struct, at


class WritableTxnMarkerTopic(Struct):
    name: str = ""
    partition_indexes: list[Int32] = at(factory=list)


class WritableTxnMarker(Struct):
    producer_id: Int64 = 0
    producer_epoch: Int16 = 0
    transaction_result: bool = False
    topics: list[WritableTxnMarkerTopic] = at(factory=list)
    coordinator_epoch: Int32 = 0
    transaction_version: Int8 = at("2+", ignorable=True, default=0)


class WriteTxnMarkersRequest(Request["WriteTxnMarkersResponse"], key=27, versions="1-2", flexible="1+"):
    """Write the markers that end a transaction; a broker's word, or an operator's to a hanging one (KIP-664)."""

    markers: list[WritableTxnMarker] = at(factory=list)


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: Int32 = 0
    error_code: Int16 = 0


class WritableTxnMarkerTopicResult(Struct):
    name: str = ""
    partitions: list[WritableTxnMarkerPartitionResult] = at(factory=list)


class WritableTxnMarkerResult(Struct):
    producer_id: Int64 = 0
    topics: list[WritableTxnMarkerTopicResult] = at(factory=list)


class WriteTxnMarkersResponse(Response, key=27, versions="1-2", flexible="1+"):
    """The answer to WriteTxnMarkersRequest."""

    markers: list[WritableTxnMarkerResult] = at(factory=list)
