"""What `kcli raw --list`, `raw --describe`, `meta` and `coord` print: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, PARTITION, TOPIC, Section, Shape, column

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="raw.list",
        about="APIs, one a row.",
        sections=(
            Section(
                name="apis",
                columns=(
                    column("key", "integer", "Number of the API."),
                    column("api", "string", "Its name; null for one that kcli does not know.", null=True),
                    column("kcli", "string", "Versions that kcli speaks.", null=True),
                    column("broker", "string", "Versions that the broker offers; null: none.", null=True),
                    column("used", "integer", "The version spoken between both; null: none.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="raw.describe",
        about="An API, and the fields of its request and answer.",
        sections=(
            Section(
                name="api",
                columns=(
                    column("key", "integer", "Number of the API."),
                    column("api", "string", "Its name."),
                    column("versions", "string", "Versions that kcli speaks."),
                    column("flexible", "string", "Versions with tagged fields and compact lengths."),
                    column("about", "string", "What it is for."),
                ),
            ),
            Section(
                name="fields",
                columns=(
                    column("kind", "string", "request or answer."),
                    column("field", "string", "Its name with its place, as Kafka's schemas call it."),
                    column("type", "string", "Its type in Kafka's words; [] is a list."),
                    column("versions", "string", "Versions that carry it."),
                    column("null", "string", "Versions in which it may be null.", null=True, sparse=True),
                    column("default", "string", "What counts when it is not given, as JSON."),
                    column("tag", "integer", "Number of a tagged field.", null=True, sparse=True),
                    column("about", "string", "What it means, where its name does not say that.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="meta",
        about="What a broker says about the cluster: brokers, topics and partitions, as one answer.",
        sections=(
            Section(
                name="cluster",
                columns=(
                    column("cluster_id", "string", "Its id.", null=True),
                    column("controller", "integer", "Id of the controller.", null=True),
                    column("told_by", "integer", "Id of the broker that told all this."),
                ),
            ),
            Section(
                name="brokers",
                columns=(
                    column("broker", "integer", "Id of the broker."),
                    column("host", "string", "Where it says that it listens."),
                    column("port", "integer", "Its port."),
                    column("rack", "string", "Its rack.", null=True, sparse=True),
                ),
            ),
            Section(
                name="topics",
                columns=(
                    TOPIC,
                    column("topic_id", "string", "Its id; null from brokers before 2.8.", null=True),
                    column("internal", "boolean", "Whether it is Kafka's own."),
                    column("partitions", "integer", "Number of partitions."),
                    ERROR,
                ),
            ),
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    column("leader", "integer", "Broker that leads; null for none.", null=True),
                    column("leader_epoch", "integer", "Epoch of the leader; null from old brokers.", null=True),
                    column("replicas", "integers", "Brokers with a copy; the first is the preferred leader."),
                    column("isr", "integers", "Those in sync with the leader."),
                    column("offline", "integers", "Those that are down.", table=False),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="coord",
        about="Who coordinates what, one a row.",
        sections=(
            Section(
                name="coordinators",
                columns=(
                    column("kind", "string", "group, transaction or share."),
                    column("name", "string", "Group, transactional id, or share partition GROUP:TOPIC:PARTITION."),
                    column("coordinator", "integer", "Id of the broker.", null=True),
                    column("host", "string", "Where it listens.", null=True),
                    column("port", "integer", "Its port.", null=True),
                    ERROR,
                ),
            ),
        ),
    ),
)
