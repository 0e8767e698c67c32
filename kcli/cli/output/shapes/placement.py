"""What `reassign` prints: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, PARTITION, TOPIC, Section, Shape, column

_REPLICAS = column("replicas", "integers", "All replicas while it moves.")
_ADDING = column("adding", "integers", "Brokers that get a replica.")
_REMOVING = column("removing", "integers", "Brokers that give theirs up.")
_MOVE = (
    column("old", "integers", "The replicas before, the preferred leader first."),
    column("new", "integers", "The replicas after, the preferred leader first."),
    _ADDING,
    _REMOVING,
    column("bytes", "integer", "Bytes to be copied."),
    column("result", "string", "planned, would move, moving, done, cancelled or failed."),
    ERROR,
)
_BROKERS = (
    column("broker", "integer", "Id of the broker."),
    column("rack", "string", "Its rack.", null=True, sparse=True),
    column("replicas_before", "integer", "Replicas at it before, of all topics."),
    column("replicas_after", "integer", "Replicas at it after."),
    column("leads_before", "integer", "Partitions it is the preferred leader of before."),
    column("leads_after", "integer", "Partitions it is the preferred leader of after."),
    column("size_before", "integer", "Bytes of its replicas before."),
    column("size_after", "integer", "Bytes of its replicas after."),
    column("receives", "integer", "Bytes that are copied to it."),
)

SHAPES: tuple[Shape, ...] = (
    *(
        Shape(
            name=f"reassign.{verb}",
            about=about,
            sections=(
                Section(name="brokers", columns=_BROKERS),
                Section(name="partitions", columns=(TOPIC, PARTITION, *_MOVE)),
            ),
        )
        for verb, about in (
            ("plan", "Where replicas would go, and what becomes of the brokers."),
            ("execute", "Where replicas go, and what becomes of the brokers."),
        )
    ),
    Shape(
        name="reassign.list",
        about="Moves of partitions under way, one a row.",
        sections=(
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    _REPLICAS,
                    _ADDING,
                    _REMOVING,
                    column("size", "integer", "Bytes to be copied in all."),
                    column("left", "integer", "Bytes that are left of them."),
                    column("rate", "number", "Bytes copied a second.", null=True),
                    column("eta", "duration", "Seconds until it is done.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="reassign.verify",
        about="What became of moves, one a row.",
        sections=(
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    column("new", "integers", "The replicas that there should be."),
                    column("replicas", "integers", "All replicas while it moves.", null=True, sparse=True),
                    column("size", "integer", "Bytes to be copied in all.", null=True, sparse=True),
                    column("left", "integer", "Bytes that are left of them.", null=True, sparse=True),
                    column("result", "string", "done, moving, cancelled or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="reassign.cancel",
        about="Moves that were cancelled, or would be.",
        sections=(
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    column("old", "integers", "All replicas while it moves."),
                    column("new", "integers", "The replicas after: those before the move."),
                    _ADDING,
                    _REMOVING,
                    column("result", "string", "would cancel, cancelled or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="reassign.throttle",
        about="Throttles of replication, one a row.",
        sections=(
            Section(
                name="throttles",
                columns=(
                    column("kind", "string", "topic or broker."),
                    column("name", "string", "The topic or the id of the broker."),
                    column("config", "string", "Name of the config."),
                    column("old", "string", "Its value before; a rate has a unit.", null=True),
                    column(
                        "new", "string", "Its value after; null when it is taken away or stays.", null=True, sparse=True
                    ),
                    column("result", "string", "set, would change, done or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="reassign.disks",
        about="Replicas that move between log directories, or would.",
        sections=(
            Section(
                name="replicas",
                columns=(
                    column("broker", "integer", "Id of the broker."),
                    TOPIC,
                    PARTITION,
                    column("old", "string", "The log directory before."),
                    column("new", "string", "The log directory after."),
                    column("bytes", "integer", "Bytes of the replica."),
                    column("result", "string", "would move, moving, done or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
)
