"""The encoder's bytes as Google's protobuf reads them."""

from __future__ import annotations

from kcli.telemetry.otlp import Point, metrics_data
from tests.telemetry.reading import MetricsData, read

TOTAL = Point("a.total", 300, 5, 2**63, True, {})
GAUGE = Point("b" * 200, 1.5, 1, 2, False, {"node_id": "1", "ü": "ö"})


def test_totals_and_gauges_are_read_as_they_were_written() -> None:
    found = read(metrics_data([TOTAL, GAUGE], {"client_rack": "a"}, delta=True))
    (total,) = found["a.total"]
    (point,) = total.sum.data_points
    assert (point.as_int, point.start_time_unix_nano, point.time_unix_nano) == (300, 5, 2**63)
    assert (total.sum.aggregation_temporality, total.sum.is_monotonic) == (1, True)
    (gauge,) = found["b" * 200]
    (point,) = gauge.gauge.data_points
    assert (point.as_double, point.time_unix_nano) == (1.5, 2)
    assert {one.key: one.value.string_value for one in point.attributes} == {"node_id": "1", "ü": "ö"}


def test_temporality_and_resource() -> None:
    data = MetricsData.FromString(metrics_data([TOTAL], {"client_rack": "a"}, delta=False))
    (resource,) = data.resource_metrics
    assert [(one.key, one.value.string_value) for one in resource.resource.attributes] == [("client_rack", "a")]
    assert resource.scope_metrics[0].metrics[0].sum.aggregation_temporality == 2
    assert metrics_data([], {"client_rack": "a"}, delta=True) == b""
