"""What `kcli pipeline profile` prints: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import PARTITION, TOPIC, Section, Shape, column

PROFILE = Shape(
    name="pipeline.profile",
    about="What is in a topic.",
    sections=(
        Section(
            name="partitions",
            columns=(
                PARTITION,
                column("start", "integer", "First offset looked at."),
                column("end", "integer", "The offset after the last."),
                column("records", "integer", "Records."),
                column("share", "number", "Of all records, 0 to 1."),
                column("gaps", "integer", "Offsets without a record: compacted, aborted, markers."),
                column("bytes", "integer", "Bytes of keys and values."),
                column("null_keys", "integer", "Records without a key."),
                column("null_values", "integer", "Records without a value: tombstones."),
                column("first", "string", "The least timestamp, UTC.", null=True, table=False),
                column("last", "string", "The greatest timestamp, UTC.", null=True),
            ),
        ),
        Section(
            name="sizes",
            columns=(
                column("part", "string", "key or value."),
                column("count", "integer", "Records that have one."),
                column("bytes", "integer", "Bytes of all of them."),
                column("min", "integer", "Bytes of the smallest."),
                column("mean", "number", "Bytes on average."),
                column("p50", "integer", "Half are no larger; within 0.01 %."),
                column("p90", "integer", "90 % are no larger."),
                column("p99", "integer", "99 % are no larger."),
                column("p999", "integer", "99.9 % are no larger."),
                column("max", "integer", "Bytes of the largest."),
                column("histogram", "object", "How many are of which size.", table=False),
            ),
        ),
        Section(
            name="keys",
            columns=(
                column("key", "string", "A key, of the most frequent."),
                column("records", "integer", "Records with it."),
                column("share", "number", "Of all records, 0 to 1."),
                column("partition", "integer", "Where they are; null: in several.", null=True),
            ),
        ),
        Section(
            name="rate",
            columns=(
                column("time", "string", "When a step begins, UTC."),
                column("records", "integer", "Records with a timestamp in it."),
                column("rate", "number", "Those per second."),
                column("bytes", "integer", "Bytes of their keys and values."),
            ),
        ),
        Section(
            name="fields",
            columns=(
                column("field", "string", "A field of the JSON in the values; [] is in a list."),
                column("types", "string", "Its types, and how often each where there are several."),
                column("null_share", "number", "In how many it is null or missing; null: nobody can say.", null=True),
                column("distinct", "integer", "About how many different values."),
                column("min", "number", "The least number.", null=True),
                column("max", "number", "The greatest number.", null=True),
                column("shortest", "integer", "Of texts and lists.", null=True, table=False),
                column("longest", "integer", "Of texts and lists.", null=True, table=False),
                column("examples", "strings", "Some values."),
            ),
        ),
        Section(
            name="topic",
            columns=(
                TOPIC,
                column("partitions", "integer", "How many."),
                column("records", "integer", "Records."),
                column("bytes", "integer", "Bytes of keys and values."),
                column("gaps", "integer", "Offsets without a record."),
                column("null_keys", "integer", "Records without a key."),
                column("null_values", "integer", "Tombstones."),
                column("distinct_keys", "integer", "About how many different keys."),
                column("skew", "number", "The fullest partition, in times the mean.", null=True),
                column("first", "string", "The least timestamp, UTC.", null=True, table=False),
                column("last", "string", "The greatest timestamp, UTC.", null=True, table=False),
                column("seconds", "duration", "Between them."),
                column("rate", "number", "Records per second.", null=True),
                column("sampled", "integer", "Values that were looked into.", table=False),
                column("json_share", "number", "How many of them are objects of JSON, 0 to 1.", null=True),
            ),
        ),
    ),
)
