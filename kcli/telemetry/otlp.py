"""MetricsData of OpenTelemetry v1 as protobuf, by hand: the few messages that numbers need.

Field numbers are those of opentelemetry/proto/metrics/v1/metrics.proto. Protobuf writes no default, nor does this.
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
    """A number at a moment. `total`: it counts from `since` and only grows, so it is a Sum; else it is a Gauge. Times
    are in ns since the epoch."""

    name: str
    value: float
    since: int
    time: int
    total: bool
    attributes: Mapping[str, str]


def metrics_data(points: Sequence[Point], resource: Mapping[str, str], *, delta: bool) -> bytes:
    """One resource with all points; b"" without any."""
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
    """A NumberDataPoint; a total is an integer."""
    times = _key(2, FIXED64) + _FIXED.pack(point.since) + _key(3, FIXED64) + _FIXED.pack(point.time)
    if point.total:
        value = _key(6, FIXED64) + _SIGNED.pack(int(point.value))
    else:
        value = _key(4, FIXED64) + _DOUBLE.pack(point.value)
    return times + value + _attributes(7, point.attributes)


def _attributes(field: int, attributes: Mapping[str, str]) -> bytes:
    """KeyValue messages with text values (AnyValue.string_value)."""
    return b"".join(
        _bytes(field, _bytes(1, name.encode()) + _bytes(2, _bytes(1, value.encode())))
        for name, value in attributes.items()
    )


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, BYTES) + encode_unsigned(len(content)) + content


def _key(field: int, kind: int) -> bytes:
    return encode_unsigned(field << 3 | kind)
