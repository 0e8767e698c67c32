"""Rows for every table that commands print, with names as long as real ones."""

from __future__ import annotations

from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.shape import Column, Shape
from kcli.cli.output.terminal import Terminal

WIDTHS = (80, 100, 120)
ROWS = 3

TOPICS = ("payments.eu-west-1.card-authorisations.v3", "orders", "dead-letters.payments.eu-west-1.card-settlements")
GROUPS = ("fraud-detection-scoring-service-production", "billing", "connect-elasticsearch-sink-customer-profiles-v2")
HOSTS = (
    "kafka-broker-1.eu-west-1.internal.example.com",
    "10.128.44.17",
    "kafka-broker-3.eu-west-1.internal.example.com",
)
MEMBERS = (
    "fraud-scoring-7f9c6d5b8-x2x4k-4d1d5a0f-6d0a-4c70-9f1c-8f3a7c1d2e9b",
    "consumer-billing-1-1c8e7f52-3a61-4b1d-8b5e-0d9f2a6c4e77",
    None,
)
UUIDS = ("wQ2m0XnGQbO8W1yJb5rT4A", "yT9cVhJrS2u0Lk3fQm7ZpQ", "3v1B8nXdTtW6gYhK2sLrUw")
TIMES = ("2026-03-01T09:15:42.123Z", "2026-02-27T23:59:59.999Z", None)
FILES = ("/var/lib/kafka/data-1/kraft-combined-logs", "/data", "/var/lib/kafka/data-2/kraft-combined-logs")
SENTENCES = (
    "retention took 1,203 records before they were read; the group continues at the log start offset",
    None,
    "nobody commits: the last member left 3h12m ago",
)
TEXTS: dict[str, tuple[object, ...]] = {
    "topic": TOPICS,
    "group": GROUPS,
    "host": HOSTS,
    "member_id": MEMBERS,
    "address": ("10.0.0.1:9092", *HOSTS[:2]),
    "source": TOPICS,
    "destination": TOPICS[::-1],
    "directory": FILES,
    "config_file": ("/home/bob/.config/kcli/config.toml", "/src/.kcli.toml", "/home/bob/.config/kcli/config.toml"),
    "folder": ("s3://analytics-eu-west-1/raw/payments/card-authorisations", "out", "/mnt/exports/orders"),
    "path": (
        "/mnt/exports/orders/part-00000-4d1d5a0f-6d0a.snappy.parquet",
        "a.csv",
        "/mnt/exports/orders/part-00001.parquet",
    ),
    "note": SENTENCES,
    "error": SENTENCES,
    "why": SENTENCES[::2] * 2,
    "reason": SENTENCES[::2] * 2,
    "remedy": SENTENCES,
    "fix": SENTENCES,
    "documentation": SENTENCES,
    "about": SENTENCES,
    "parameters": SENTENCES[::2] * 2,
    "types": ("string 98 %, null 2 %", "number", "object"),
    "command": ("kcli groups reset fraud-detection-scoring-service-production --to end", None, None),
    "status": ("LOSING DATA", "OK", "TXN-BLOCKED"),
    "state": ("PreparingRebalance", "Stable", "Empty"),
    "result": ("would change", "unchanged", "failed"),
    "kind": ("transactional-id", "topic", "client-metrics"),
    "type": ("consumer", "classic", None),
    "pattern": ("prefixed", "literal", "literal"),
    "permission": ("allow", "deny", "allow"),
    "operation": ("describe_configs", "read", "idempotent_write"),
    "protocol": ("consumer", "connect", "SASL_SSL"),
    "principal": ("User:CN=payments-service,OU=platform,O=Example,C=DE", "User:bob", "User:*"),
    "name": TOPICS,
    "config": ("min.insync.replicas", "retention.ms", "leader.replication.throttled.replicas"),
    "old": ("604800000", "delete", None),
    "new": ("86400000", "compact,delete", "0:1,0:2,1:2,1:3,2:3,2:1"),
    "value": ("compact,delete", "604800000", None),
    "other": ("delete", "86400000", "1"),
    "inherited": ("delete", "604800000", None),
    "api": ("DescribeTopicPartitions", "Fetch", None),
    "rack": ("eu-west-1a", "eu-west-1b", None),
    "release": ("4.1", "≥ 3.9", "4.0"),
    "role": ("leader", "voter", "observer"),
    "feature": ("transaction.version", "group.version", "metadata.version"),
    "change": ("+", "~", "-"),
    "file": ("clusters/production/topics.yaml:214", "a.yaml:1", None),
    "profile": ("production-eu-west-1", "local", "staging"),
    "bootstrap": (",".join(f"{host}:9093" for host in HOSTS), "localhost:9092", None),
    "protected": ("read_only", None, "protected"),
    "property": ("sasl.oauthbearer.token.endpoint.url", "ssl.endpoint.identification.algorithm", "acks"),
    "from": ("/home/bob/.config/kcli/config.toml:17", "default", "KCLI_ACKS"),
    "from_": ("default",) * 3,
    "bar": ("█" * 24, "█", "█" * 12),
    "step": ("advertised", "ApiVersions", "config"),
    "fault": ("not-coordinator", "delay", "drop"),
    "assignor": ("cooperative-sticky", "uniform", None),
    "client_id": ("fraud-scoring-7f9c6d5b8-x2x4k", "consumer-billing-1", "app"),
    "instance_id": ("fraud-scoring-0", None, None),
    "cluster_id": UUIDS,
    "topic_id": UUIDS,
    "directory_id": UUIDS,
    "token_id": UUIDS,
    "cluster": UUIDS,
    "hmac": ("Rm9vYmFyQmF6UXV4Q29yZ2VHcmF1bHRHYXJwbHlXYWxkb0ZyZWRQbHVnaFh5enp5VGh1ZA==", None, None),
    "place": ("read", "next", "waiting"),
    "key": ("customer-000123456789-eu-west-1-primary", "user-1", None),
    "query": UUIDS,
    "id": ("20260301-091542-4d1d", "20260227-235959-0f6d", "1"),
    "mode": ("continuous", "batch", "once"),
    "checkpoint": FILES,
    "log": FILES,
    "format": ("parquet", "csv", "json"),
    "part": ("key", "value", "value"),
    "time": TIMES,
    "field": ("payment.card.authorisation.merchant.category_code", "id", "items[].sku"),
    "entity": ("user payments-service, client-id fraud-detection-scoring", "user <default>", "ip 10.128.44.17"),
    "user": ("payments-service-production", "bob", "alice"),
    "quota": ("controller_mutation_rate", "producer_byte_rate", "request_percentage"),
    "limit": ("10MiB/s", "200%", None),
    "set_for": ("user payments-service", None, "user <default>"),
    "shared_by": ("all clients of the user", None, None),
    "mechanism": ("SCRAM-SHA-512", "SCRAM-SHA-256", None),
    "transactional_id": ("payments-eu-west-1-card-settlement-writer-0", "copy-1", None),
    "owner": ("User:payments-service", "User:bob", "User:alice"),
    "requester": ("User:admin",) * 3,
    "metadata": ("checkpoint 4711", None, None),
    "versions": ("0-17", "4+", "0-5"),
    "flexible": ("12+", "9+", "none"),
    "null": ("1+", None, None),
    "default": ("-1", "", "[]"),
    "kcli": ("0-17", "4-16", None),
    "broker": ("0-17", "4-16", None),
    "started": TIMES,
    "last_write": TIMES,
    "issued": TIMES,
    "expires": TIMES,
    "max_time": TIMES,
    "fetched": TIMES,
    "caught_up": TIMES,
    "first": TIMES,
    "last": TIMES,
    "last_report": TIMES,
    "time_lag_kind": ("at least", "exact", None),
    "ip": (None,) * 3,
}
"""Texts by the names of their columns."""
OF_SHAPES: dict[str, tuple[object, ...]] = {
    "brokers state": ("controller", "up", "silent"),
    "cluster state": ("fenced", "up", None),
    "cluster old": ("observer", "voter", "observer"),
    "cluster new": ("voter", "observer", "voter"),
    "cluster action": ("unsafe downgrade", "upgrade", None),
    "config source": ("KCLI_BOOTSTRAP", "/src/.kcli.toml", "~/.config/kcli/config.toml"),
    "config result": ("warning", "ok", "failed"),
    "config value": ("kafka-1:9093,kafka-2:9093", "production", None),
    "configs kind": ("topic", "broker", "client-metrics"),
    "configs source": ("topic", "all brokers", "default"),
    "doctor status": ("warning", "ok", "failed"),
    "doctor result": SENTENCES[::2] * 2,
    "doctor broker": (1, 2, None),
    "apply kind": ("topic", "quota", "acl"),
    "diff kind": ("topic", "quota", "acl"),
    "coord kind": ("group", "transaction", "share"),
    "reassign kind": ("topic", "broker", "broker"),
    "raw kind": ("request", "answer", "answer"),
    "raw type": ("[]DescribeTopicPartitionsResponseTopic", "string", "int32"),
    "users old": (4096, None, 8192),
    "users new": (8192, 8192, None),
    "quotas old": ("10MiB/s", None, "200%"),
    "quotas new": ("20MiB/s", "1MB/s", None),
    "tokens old": TIMES,
    "tokens new": TIMES[::-1],
    "txn state": ("CompleteCommit", "Ongoing", "Empty"),
    "copy from": TIMES,
    "pipeline status": ("warning", "ok", "failed"),
    "pipeline result": ("would reset", "unchanged", "failed"),
    "pipeline state": ("interrupted", "running", "done"),
    "faults api": ("ApiVersions", "Fetch", None),
    "pipeline.doctor result": SENTENCES[::2] * 2,
    "txn old": (0, 31, 2),
    "txn new": (1, 32, None),
}
"""The same for the columns of one shape or subject, where they differ."""
LISTS = {
    "isr": ([1, 2, 3], [2], [1, 2]),
    "replicas": ([1, 2, 3], [2, 3, 1], [1, 2, 3, 4, 5, 6]),
    "old": ([1, 2, 3], [2, 3, 1], [3, 1]),
    "new": ([4, 5, 6], [2, 3, 4], [1, 2]),
    "adding": ([4, 5, 6], [4], []),
    "removing": ([1, 2, 3], [1], [3]),
    "offline": ([], [1], []),
    "hosts": (list(HOSTS), ["10.128.44.17"], []),
    "listeners": (["CONTROLLER://kafka-controller-1.internal:9093"], [], []),
    "assignment": ([f"{TOPICS[0]}:{n}" for n in range(4)], ["orders:0", "orders:1"], []),
}
NUMBERS = {
    "count": (1_234_567, 0, 9_999),
    "bytes": (5_368_709_120, 512, 1_500_000),
    "rate": (12_345.678, 0.0, 3.25),
    "bytes/s": (10_485_760.0, 0.0, 1.5),
    "": (4_294_967_311, 0, 17),
}
SPECIAL = {"partition": (0, 11, 127), "port": (9092, 9093, 9092), "iterations": (8192, 4096, 16384)}
SMALL = set(
    "broker node epoch coordinator_epoch leader_epoch key coordinator leader controller preferred lowest highest level "
    "kcli used rank tag times batch answered_by last_sequence pid".split()
)


def value(shape: str, column: Column, place: int) -> object:
    """What a column has in a row; None where it may be null."""
    own = OF_SHAPES.get(f"{shape} {column.name}") or OF_SHAPES.get(f"{shape.partition('.')[0]} {column.name}")
    if own is not None and column.kind in ("string", "integer"):
        return own[place]
    if column.kind == "integer":
        small = (1, 0, 1001) if column.name in SMALL else NUMBERS[column.unit]
        return SPECIAL.get(column.name, small)[place]
    if column.kind == "number":
        return float(NUMBERS[column.unit][place]) if column.unit else (0.123456, 100.0, 1.5)[place]
    if column.kind == "duration":
        return (273_906.5, 42.0, None if column.null else 0.0)[place]
    if column.kind == "moment":
        return 1_772_356_542_123
    if column.kind == "boolean":
        return place == 1
    if column.kind in ("strings", "integers"):
        return LISTS.get(column.name, (["User:bob"], [], []))[place]
    if column.kind == "object":
        return ({"cleanup.policy": "compact", "min.insync.replicas": "2", "retention.ms": "604800000"}, {}, {"a": "1"})[
            place
        ]
    text = TEXTS.get(column.name, GROUPS)[place]
    return text if text is not None or column.null else "none"


def document(shape: Shape) -> Document:
    """Some rows of each table."""
    rows = {
        section.name: [
            {column.name: value(shape.name, column, place) for column in section.columns} for place in range(ROWS)
        ]
        for section in shape.sections
    }
    return Document(shape=shape, rows=rows)


def drawn(shape: Shape, width: int) -> str:
    """The tables of a shape on a terminal so wide."""
    return render(document(shape), "table", Terminal(width=width))


def heading(shape: Shape, width: int) -> str:
    return f"== kcli {shape.name.replace('.', ' ')} ".ljust(width, "=") + "\n"
