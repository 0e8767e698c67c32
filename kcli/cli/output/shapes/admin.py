"""What the administration commands print beyond topics, groups and lag: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, PARTITION, TOPIC, Section, Shape, column

_BROKER = column("broker", "integer", "Id of the broker.")
_DIRECTORY = column("directory", "string", "Log directory.")

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="brokers.list",
        about="Brokers, one a row.",
        sections=(
            Section(
                name="brokers",
                columns=(
                    _BROKER,
                    column("host", "string", "Where it listens."),
                    column("port", "integer", "Its port."),
                    column("rack", "string", "Its rack.", null=True, sparse=True),
                    column("state", "string", "up, controller, fenced or silent."),
                    column("took_ms", "number", "How long an answer takes, in milliseconds.", null=True),
                    column(
                        "release",
                        "string",
                        "Its Kafka, by metadata.version; with ≥ the oldest that speaks its APIs.",
                        null=True,
                    ),
                    column("leads", "integer", "Partitions it leads."),
                    column("replicas", "integer", "Replicas it has."),
                    column("behind", "integer", "Replicas of it that are not in sync."),
                    column("size", "integer", "Bytes of its replicas.", null=True),
                    column("free", "integer", "Bytes left on its volumes.", null=True, sparse=True),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="brokers.versions",
        about="APIs of brokers, one a row.",
        sections=(
            Section(
                name="apis",
                columns=(
                    _BROKER,
                    column("key", "integer", "Number of the API."),
                    column("api", "string", "Its name."),
                    column("lowest", "integer", "Lowest version the broker speaks."),
                    column("highest", "integer", "Highest version the broker speaks."),
                    column("kcli", "integer", "The version that kcli speaks with it; null: none.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="cluster.list",
        about="What the cluster is, in one row.",
        sections=(
            Section(
                name="cluster",
                columns=(
                    column("cluster_id", "string", "Its id.", null=True),
                    column("controller", "integer", "Id of the controller.", null=True),
                    column("brokers", "integer", "How many serve."),
                    column(
                        "release",
                        "string",
                        "Its Kafka, by metadata.version; with ≥ the oldest that speaks its APIs.",
                        null=True,
                    ),
                    column("topics", "integer", "How many topics, Kafka's own among them."),
                    column("groups", "integer", "How many groups."),
                ),
            ),
        ),
    ),
    Shape(
        name="cluster.quorum",
        about="The KRaft quorum: one row for it, one for each node.",
        sections=(
            Section(
                name="quorum",
                columns=(
                    column("leader", "integer", "Node that leads."),
                    column("epoch", "integer", "Its epoch."),
                    column("high_watermark", "integer", "High watermark of the metadata log."),
                ),
            ),
            Section(
                name="nodes",
                columns=(
                    column("node", "integer", "Id of the node."),
                    column("role", "string", "leader, voter or observer."),
                    column("end", "integer", "Where its metadata log ends."),
                    column("lag", "integer", "How many records it is behind the leader."),
                    column("fetched", "string", "When it fetched last, UTC.", null=True),
                    column("caught_up", "string", "When it had caught up last, UTC.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="cluster.features",
        about="Features, one a row.",
        sections=(
            Section(
                name="features",
                columns=(
                    column("feature", "string", "Name of the feature."),
                    column("level", "integer", "Level in force; null when it is off.", null=True),
                    column("lowest", "integer", "Lowest level a broker supports."),
                    column("highest", "integer", "Highest level a broker supports."),
                ),
            ),
        ),
    ),
    Shape(
        name="logdirs.list",
        about="Log directories of brokers, one a row.",
        sections=(
            Section(
                name="directories",
                columns=(
                    _BROKER,
                    _DIRECTORY,
                    column("replicas", "integer", "Replicas in it."),
                    column("size", "integer", "Bytes of its replicas."),
                    column("free", "integer", "Bytes left on its volume.", null=True),
                    column("total", "integer", "Bytes of its volume.", null=True),
                    column("cordoned", "boolean", "True when nothing new is put there.", table=False),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="logdirs.replicas",
        about="Replicas on disks, one a row, or added up.",
        sections=(
            Section(
                name="replicas",
                columns=(
                    _BROKER.replace(null=True, sparse=True),
                    _DIRECTORY.replace(null=True, sparse=True),
                    TOPIC.replace(null=True, sparse=True),
                    PARTITION.replace(null=True, sparse=True),
                    column("replicas", "integer", "How many are added up."),
                    column("size", "integer", "Bytes."),
                    column("behind", "integer", "Offsets it is behind the leader."),
                    column("moving", "boolean", "True for one that is on its way to another directory.", table=False),
                ),
            ),
        ),
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
