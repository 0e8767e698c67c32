"""What the commands print that look after pipelines: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.pipeline_profile import PROFILE
from kcli.cli.output.shapes.shape import PARTITION, TOPIC, Section, Shape, column

_JOB = (
    column("id", "string", "Of this run."),
    column("name", "string", "Of the pipeline."),
    column("state", "string", "running, done, interrupted, failed or crashed."),
    column("mode", "string", "batch, once or continuous."),
    column("source", "string", "What is read."),
    column("destination", "string", "Where it goes."),
    column("records", "integer", "Records read."),
    column("bad", "integer", "Keys and values that did not fit their format and are null.", table=False),
    column("rate", "number", "Records read per second, while it runs.", null=True),
    column("lag", "integer", "Records not yet read; null in a batch.", null=True),
    column("seconds", "duration", "How long it ran, or has run."),
    column("command", "string", "export, sql, …", table=False),
    column("batch", "integer", "The last batch of a stream; null in a batch.", null=True, table=False),
    column("done", "integer", "Offsets that are behind it.", table=False),
    column("span", "integer", "Offsets in all; null without end.", null=True, table=False),
    column("pid", "integer", "Its process.", table=False),
    column("begun", "string", "When, UTC.", table=False),
    column("told", "string", "When it last said how it stands, UTC.", table=False),
    column("checkpoint", "string", "Where it is kept how far it is.", null=True, table=False),
    column("log", "string", "Spark's own output.", null=True, table=False),
    column("error", "string", "Why it failed.", null=True, sparse=True),
)

SHAPES: tuple[Shape, ...] = (
    PROFILE,
    Shape(name="pipeline.list", about="Pipelines of this machine.", sections=(Section(name="jobs", columns=_JOB),)),
    Shape(
        name="pipeline.checkpoint",
        about="What a checkpoint holds.",
        sections=(
            Section(
                name="checkpoint",
                columns=(
                    column("path", "string", "Where it is."),
                    column("query", "string", "Spark's id of the query.", null=True, table=False),
                    column("batch", "integer", "The last batch that was begun; null: none.", null=True),
                    column("committed", "integer", "The last batch that is whole; null: none.", null=True),
                    column("cluster", "string", "Id of the cluster it is of, where it was noted.", null=True),
                ),
            ),
            Section(
                name="offsets",
                columns=(
                    TOPIC,
                    column("topic_id", "string", "Id of the topic, where it was noted.", null=True, sparse=True),
                    PARTITION,
                    column("offset", "integer", "Where the next batch begins; null: at its first.", null=True),
                    column(
                        "planned",
                        "integer",
                        "Where the batch ends that was begun and is not whole.",
                        null=True,
                        sparse=True,
                    ),
                ),
            ),
        ),
    ),
    Shape(
        name="pipeline.checkpoint-reset",
        about="Where a pipeline goes on after its checkpoint was reset, or would.",
        sections=(
            Section(
                name="partitions",
                columns=(
                    TOPIC,
                    PARTITION,
                    column("old", "integer", "Where the next batch would have begun.", null=True),
                    column("new", "integer", "Where it begins; null where that cannot be said.", null=True),
                    column("delta", "integer", "New minus old; null where one of them is missing.", null=True),
                    column("lag", "integer", "Records behind the new offset.", null=True),
                    column("result", "string", "would reset, reset, unchanged or failed."),
                    column("note", "string", "What is remarkable.", null=True, sparse=True),
                    column("start", "integer", "Where the log starts.", null=True, table=False),
                    column("end", "integer", "Where the log ends.", null=True, table=False),
                    column("error", "string", "Why it failed.", null=True, sparse=True, table=False),
                ),
            ),
        ),
    ),
    Shape(
        name="pipeline.replay",
        about="What a replay did, and how well it kept its pace.",
        sections=(
            Section(
                name="replays",
                columns=(
                    column("source", "string", "What was read."),
                    column("destination", "string", "Where it went."),
                    column("records", "integer", "Records handed on."),
                    column("acked", "integer", "Records acknowledged."),
                    column("failed", "integer", "Records that were not.", table=False),
                    column("unknown", "integer", "Records that may be stored.", table=False),
                    column("bytes", "integer", "Bytes of keys and values.", table=False),
                    column("span", "duration", "Seconds from the first record to the last, as they were written."),
                    column("skipped", "duration", "Seconds of silence that --max-gap left out.", table=False),
                    column("seconds", "duration", "How long it took."),
                    column("speed", "number", "How many times as fast it should be; null: no pace.", null=True),
                    column("late", "number", "Seconds that the worst record was late.", null=True),
                ),
            ),
        ),
    ),
    Shape(
        name="pipeline.finalize",
        about="Files that belong to no whole batch.",
        sections=(
            Section(
                name="folders",
                columns=(
                    column("folder", "string", "The folder."),
                    column("committed", "integer", "Files of whole batches."),
                    column("orphans", "integer", "Files that are of none."),
                    column("bytes", "integer", "Bytes of those."),
                    column("missing", "integer", "Files of whole batches that are not there."),
                    column("result", "string", "planned, removed, or nothing to do."),
                ),
            ),
            Section(
                name="orphans",
                table=False,
                columns=(
                    column("path", "string", "A file of no whole batch, or a folder that a killed export left."),
                    column("bytes", "integer", "Its size."),
                ),
            ),
        ),
    ),
)
