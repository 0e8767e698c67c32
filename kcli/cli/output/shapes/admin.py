"""What the administration commands print beyond topics, groups and lag: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import Section, Shape, column

SHAPES: tuple[Shape, ...] = (
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
