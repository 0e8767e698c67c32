"""A protobuf encoder for the few OpenTelemetry v1 MetricsData messages that numbers need.

Field numbers are those of opentelemetry/proto/metrics/v1/metrics.proto. As in protobuf, default values are not written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import NamedTuple

from kcli.proto.varint import encode_unsigned

_FIXED = Struct("<Q")
_SIGNED = Struct("<q")
_DOUBLE = Struct("<d")
VARINT, FIXED64, BYTES = 0, 1, 2  # wire types
DELTA, CUMULATIVE = 1, 2  # AggregationTemporality


class Point(NamedTuple):
    """A number at a point in time (ns since the epoch). `total`: it counts from `since` and only grows, so it is a Sum;
    otherwise it is a Gauge."""

    name: str
    value: float
    since: int
    time: int
    total: bool
    attributes: Mapping[str, str]


def metrics_data(points: Sequence[Point], resource: Mapping[str, str], *, delta: bool) -> bytes:
    """Return all points under one resource; b"" without points."""
    if not points:
        return b""
    metrics = b"".join(_bytes(2, _metric(point, delta=delta)) for point in points)  # ScopeMetrics.metrics
    about = _bytes(1, _attributes(1, resource)) if resource else b""  # ResourceMetrics.resource, Resource.attributes
    return _bytes(1, about + _bytes(2, metrics))  # MetricsData.resource_metrics, ResourceMetrics.scope_metrics


def _metric(point: Point, *, delta: bool) -> bytes:
    data = _bytes(1, _number(point))  # data_points
    name = _bytes(1, point.name.encode())
    if not point.total:
        return name + _bytes(5, data)  # Metric.gauge
    temporality = _key(2, VARINT) + encode_unsigned(DELTA if delta else CUMULATIVE)
    monotonic = _key(3, VARINT) + encode_unsigned(1)
    return name + _bytes(7, data + temporality + monotonic)  # Metric.sum


def _number(point: Point) -> bytes:
    """Return a NumberDataPoint; a total is an integer."""
    times = _key(2, FIXED64) + _FIXED.pack(point.since) + _key(3, FIXED64) + _FIXED.pack(point.time)
    if point.total:
        value = _key(6, FIXED64) + _SIGNED.pack(int(point.value))
    else:
        value = _key(4, FIXED64) + _DOUBLE.pack(point.value)
    return times + value + _attributes(7, point.attributes)


def _attributes(field: int, attributes: Mapping[str, str]) -> bytes:
    """Return KeyValue messages with string values (AnyValue.string_value)."""
    return b"".join(
        _bytes(field, _bytes(1, name.encode()) + _bytes(2, _bytes(1, value.encode())))
        for name, value in attributes.items()
    )


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, BYTES) + encode_unsigned(len(content)) + content


def _key(field: int, kind: int) -> bytes:
    return encode_unsigned(field << 3 | kind)
