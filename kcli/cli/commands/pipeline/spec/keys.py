"""The keys of a pipeline's file, and the options of the command line that they stand for."""

from __future__ import annotations

MODES = ("batch", "once", "continuous")
TOP = "name mode trigger checkpoint profile bootstrap properties source sources steps sink options".split()
SOURCE = {
    "topic": "",
    "from": "offset",
    "partitions": "partitions",
    "isolation": "isolation",
    "key-format": "key_format",
    "value-format": "value_format",
    "key-schema": "key_schema",
    "value-schema": "value_schema",
    "schema-registry": "schema_registry",
    "value-subject": "value_subject",
    "key-subject": "key_subject",
    "value-subject-strategy": "value_subject_strategy",
    "key-subject-strategy": "key_subject_strategy",
    "reader-schema": "reader_schema",
    "key-reader-schema": "key_reader_schema",
    "without-rules": "without_rules",
    "min-partitions": "min_partitions",
    "skip-lost": "skip_lost",
    "on-bad": "on_bad",
    "quarantine": "quarantine",
    "schema-mode": "schema_mode",
    "unwrap": "unwrap",
}
SINK = {
    "topic": "into",
    "files": "out",
    "table": "out",
    "format": "file_format",
    "partition-by": "partition_by",
    "compression": "compression",
    "overwrite": "overwrite",
    "append": "append",
    "file-size": "file_size",
    "compact": "compact",
    "merge": "",
    "warehouse": "warehouse",
    "catalog": "catalog",
    "profile": "to_profile",
    "bootstrap": "to_bootstrap",
    "print": "format",
    "limit": "limit",
    "output-mode": "output_mode",
    "value-format": "to_value_format",
    "key-format": "to_key_format",
    "value-subject": "to_value_subject",
    "key-subject": "to_key_subject",
    "value-subject-strategy": "to_value_subject_strategy",
    "key-subject-strategy": "to_key_subject_strategy",
    "value-schema": "to_value_schema",
    "key-schema": "to_key_schema",
    "schema-registry": "to_schema_registry",
    "register": "register",
}
MERGE = {"key": "merge", "order-by": "order_by", "delete-when": "delete_when"}
"""Below `merge` of a sink."""
OPTIONS = {
    "master": "master",
    "remote": "remote",
    "conf": "conf",
    "connector": "connector",
    "java-home": "java_home",
    "python": "python",
    "memory": "memory",
    "metrics": "metrics",
    "prometheus": "prometheus",
    "max-per-batch": "max_per_batch",
    "max-bytes-per-batch": "max_bytes_per_batch",
    "commit-group": "commit_group",
    "watermark": "watermark",
}
STREAM = ("max_per_batch", "max_bytes_per_batch", "commit_group", "watermark", "output_mode")
"""Options that a batch has not."""
PLACES = {"earliest": "beginning", "latest": "end"}
"""As Spark and Kafka call them, beside what -o takes."""
STEP = ("name", "sql")
