"""What the administration commands print beyond topics, groups and lag: see shapes.py."""

from __future__ import annotations

from kcli.cli.shapes import ERROR, NOTE, PARTITION, TOPIC, Section, Shape, column

_KIND = column("kind", "string", "topic, broker, logger, group or client-metrics.")
_NAME = column("name", "string", "Name of what has the configs; `default` is all brokers.")
_CONFIG = column("config", "string", "Name of the config.")
_CHANGE = (
    _KIND,
    _NAME,
    _CONFIG,
    column("old", "string", "Its value before; null when it has none, *** for a secret.", null=True),
    column("new", "string", "Its value after.", null=True),
    column("result", "string", "would change, done or failed."),
    ERROR,
)

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="topics.alter",
        about="What was changed of topics, or would be.",
        sections=(
            Section(
                name="changes",
                columns=(
                    TOPIC,
                    column("config", "string", "Name of the config, or partitions."),
                    column("old", "string", "Its value before.", null=True),
                    column("new", "string", "Its value after.", null=True),
                    column("result", "string", "would change, unchanged, done or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="topics.trim",
        about="Where logs start, and what was deleted before that, or would be.",
        sections=(
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    column("old", "integer", "Log start offset before.", null=True),
                    column("new", "integer", "Log start offset after.", null=True),
                    column("offsets", "integer", "How many offsets are deleted.", null=True),
                    column("result", "string", "would trim, trimmed, unchanged or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="topics.stats",
        about="Topics with figures, one a row.",
        sections=(
            Section(
                name="topics",
                columns=(
                    TOPIC,
                    column("partitions", "integer", "Number of partitions."),
                    column("replicas", "integer", "Replication factor."),
                    column("offsets", "integer", "End minus start of all partitions.", null=True),
                    column("size", "integer", "Bytes of the leaders' logs.", null=True),
                    column("rate", "number", "Offsets written a second.", null=True),
                    column("last_write", "string", "Newest timestamp of a record, UTC.", null=True),
                    column("idle", "duration", "Seconds since then.", null=True),
                    NOTE.replace(sparse=True),
                ),
            ),
        ),
    ),
    Shape(
        name="configs.list",
        about="What has configs, one a row.",
        sections=(
            Section(
                name="resources",
                columns=(_KIND, _NAME, column("configs", "integer", "How many configs somebody set.")),
            ),
        ),
    ),
    Shape(
        name="configs.get",
        about="Configs, one a row.",
        sections=(
            Section(
                name="configs",
                columns=(
                    _KIND.replace(table=False),
                    _NAME,
                    _CONFIG,
                    column("value", "string", "Its value; null for a secret.", null=True),
                    column("source", "string", "Who set it: topic, broker, all brokers, server.properties, default, …"),
                    column("inherited", "string", "What would hold otherwise.", null=True),
                    column("type", "string", "boolean, int, long, list, …", null=True, table=False),
                    column("secret", "boolean", "Whether its value is never told.", table=False),
                    column("read_only", "boolean", "Whether it can only be changed in a file.", table=False),
                    column("documentation", "string", "Kafka's explanation.", null=True, sparse=True),
                ),
            ),
        ),
    ),
    Shape(
        name="configs.diff",
        about="Configs that differ, one a row.",
        sections=(
            Section(
                name="configs",
                columns=(
                    _CONFIG,
                    column("value", "string", "Its value.", null=True),
                    column("other", "string", "The inherited value, or that of the other resource.", null=True),
                ),
            ),
        ),
    ),
    *(
        Shape(
            name=f"configs.{verb}",
            about="What was changed, or would be.",
            sections=(Section(name="configs", columns=_CHANGE),),
        )
        for verb in ("set", "delete", "append", "subtract", "restore")
    ),
    Shape(
        name="faults",
        about="What a sandbox can be told to do wrong, and what of it is still to happen.",
        sections=(
            Section(
                name="faults",
                columns=(
                    column("fault", "string", "Name of the fault."),
                    column("needs", "strings", "What it has to be told."),
                    column("takes", "strings", "What it may be told.", table=False),
                    column("about", "string", "What happens."),
                ),
            ),
            Section(
                name="pending",
                columns=(
                    column("fault", "string", "Kind of the fault."),
                    column("api", "string", "The request it is about; null for connections.", null=True),
                    column("what", "string", "Which error, how long, how much."),
                    column("broker", "integer", "The broker that does it; null for any.", null=True, sparse=True),
                    column("topic", "string", "The topic it is about; null for any.", null=True, sparse=True),
                    column("partition", "integer", "The partition it is about; null for any.", null=True, sparse=True),
                    column("times", "integer", "How often it is to happen; null until it is taken back.", null=True),
                ),
            ),
        ),
    ),
)
