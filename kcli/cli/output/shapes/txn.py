"""What `kcli txn` prints: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import ERROR, PARTITION, TOPIC, Section, Shape, column

_ID = column("transactional_id", "string", "The transactional id.")
_COORDINATOR = column("coordinator", "integer", "Id of the broker that coordinates it.")
_PRODUCER = column("producer_id", "integer", "Id of the producer.")
_EPOCH = column("epoch", "integer", "Epoch of the producer.")
_COORDINATOR_EPOCH = column(
    "coordinator_epoch", "integer", "Epoch of the coordinator that wrote the last marker; -1 before the first."
)
_STATE = column("state", "string", "Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort, …")
_TIMEOUT = column("timeout", "duration", "Seconds after which the coordinator aborts it.", null=True)
_STARTED = column("started", "string", "When its last transaction began, UTC.", null=True)
_OPEN_SINCE = column("open_since", "integer", "Offset at which the open transaction begins here.", null=True)
_LAST_WRITE = column("last_write", "string", "Timestamp of its last record or marker, UTC.", null=True)
_IDLE = column("idle", "duration", "Seconds since then.", null=True)
_KNOWN_AS = column(
    "transactional_id", "string", "Its transactional id, where a coordinator knows it.", null=True, sparse=True
)

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="txn.list",
        about="Transactional ids, one a row.",
        sections=(
            Section(
                name="transactions",
                columns=(
                    _ID,
                    _COORDINATOR,
                    _PRODUCER,
                    _STATE,
                    column("age", "duration", "Seconds since the open transaction began.", null=True),
                    _TIMEOUT,
                    column("partitions", "integer", "How many partitions wait for its markers.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="txn.describe",
        about="Transactional ids, and the partitions that wait for their markers.",
        sections=(
            Section(
                name="transactions",
                columns=(
                    _ID,
                    _COORDINATOR,
                    _PRODUCER,
                    _EPOCH,
                    _STATE,
                    _TIMEOUT,
                    _STARTED,
                    column("age", "duration", "Seconds since then, while it is open.", null=True),
                    ERROR,
                ),
            ),
            Section(name="partitions", columns=(_ID, TOPIC, PARTITION, _OPEN_SINCE, _LAST_WRITE, _IDLE)),
        ),
    ),
    Shape(
        name="txn.producers",
        about="Producers that a partition remembers, one a row.",
        sections=(
            Section(
                name="producers",
                columns=(
                    TOPIC,
                    PARTITION,
                    _PRODUCER,
                    _EPOCH,
                    _COORDINATOR_EPOCH,
                    column("last_sequence", "integer", "Sequence number of its last record; -1 for none."),
                    _LAST_WRITE,
                    _IDLE,
                    _OPEN_SINCE,
                ),
            ),
        ),
    ),
    Shape(
        name="txn.find-hanging",
        about="Open transactions that no coordinator will end, one a row.",
        sections=(
            Section(
                name="transactions",
                columns=(
                    TOPIC,
                    PARTITION,
                    _PRODUCER,
                    _EPOCH,
                    _COORDINATOR_EPOCH,
                    _OPEN_SINCE,
                    _LAST_WRITE,
                    _IDLE,
                    _KNOWN_AS,
                    column("why", "string", "Why nobody will end it."),
                ),
            ),
        ),
    ),
    Shape(
        name="txn.abort",
        about="Hanging transactions that were aborted, or would be.",
        sections=(
            Section(
                name="transactions",
                columns=(
                    TOPIC,
                    PARTITION,
                    _OPEN_SINCE,
                    _PRODUCER,
                    _EPOCH,
                    _COORDINATOR_EPOCH,
                    _KNOWN_AS,
                    _IDLE,
                    column("result", "string", "would abort, aborted or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
    Shape(
        name="txn.fence",
        about="Transactional ids that were taken away from their producers, or would be.",
        sections=(
            Section(
                name="transactions",
                columns=(
                    _ID,
                    _STATE,
                    column("age", "duration", "Seconds since its open transaction began.", null=True),
                    _PRODUCER.replace(null=True),
                    column("old", "integer", "Epoch before.", null=True),
                    column("new", "integer", "Epoch after.", null=True),
                    column("result", "string", "would fence, fenced or failed."),
                    ERROR,
                ),
            ),
        ),
    ),
)
