"""OpenTelemetry's metrics messages, read by Google's protobuf: another hand than kcli's encoder."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

F = descriptor_pb2.FieldDescriptorProto
FIELDS = {
    "MetricsData": [("resource_metrics", 1, "ResourceMetrics")],
    "ResourceMetrics": [("resource", 1, "Resource"), ("scope_metrics", 2, "ScopeMetrics")],
    "Resource": [("attributes", 1, "KeyValue")],
    "ScopeMetrics": [("metrics", 2, "Metric")],
    "Metric": [("name", 1, F.TYPE_STRING), ("gauge", 5, "Gauge"), ("sum", 7, "Sum")],
    "Gauge": [("data_points", 1, "NumberDataPoint")],
    "Sum": [
        ("data_points", 1, "NumberDataPoint"),
        ("aggregation_temporality", 2, F.TYPE_INT32),
        ("is_monotonic", 3, F.TYPE_BOOL),
    ],
    "NumberDataPoint": [
        ("start_time_unix_nano", 2, F.TYPE_FIXED64),
        ("time_unix_nano", 3, F.TYPE_FIXED64),
        ("as_double", 4, F.TYPE_DOUBLE),
        ("as_int", 6, F.TYPE_SFIXED64),
        ("attributes", 7, "KeyValue"),
    ],
    "KeyValue": [("key", 1, F.TYPE_STRING), ("value", 2, "AnyValue")],
    "AnyValue": [("string_value", 1, F.TYPE_STRING)],
}
REPEATED = {"resource_metrics", "scope_metrics", "metrics", "data_points", "attributes"}


def _message() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package="otlp", syntax="proto3")
    for name, fields in FIELDS.items():
        message = file.message_type.add(name=name)
        for field, number, kind in fields:
            label = F.LABEL_REPEATED if field in REPEATED else F.LABEL_OPTIONAL
            if isinstance(kind, str):
                name = f".otlp.{kind}"
                message.field.add(name=field, number=number, label=label, type=F.TYPE_MESSAGE, type_name=name)
            else:
                row = message.field.add(name=field, number=number, label=label, type=kind)
                if field in ("as_double", "as_int"):
                    if not message.oneof_decl:
                        message.oneof_decl.add(name="value")
                    row.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("otlp.MetricsData"))


MetricsData = _message()


def read(data: bytes) -> dict[str, Any]:
    """The metrics of a push by name; of a metric with attributes a list. No field is unknown."""
    parsed = MetricsData.FromString(data)
    assert parsed.SerializeToString(deterministic=True) == data, "a field in another place, or an unknown one"
    found: dict[str, Any] = {}
    for resource in parsed.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                if metric.name in found:
                    found[metric.name] += [metric]
                else:
                    found[metric.name] = [metric]
    return found
