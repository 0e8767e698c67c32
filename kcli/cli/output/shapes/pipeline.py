"""What the pipeline's commands print: see shapes.py."""

from __future__ import annotations

from kcli.cli.output.shapes.shape import PARTITION, TOPIC, Section, Shape, column

SHAPES: tuple[Shape, ...] = (
    Shape(
        name="pipeline.plan",
        about="What a pipeline would read, by partition.",
        sections=(
            Section(
                name="ranges",
                columns=(
                    TOPIC,
                    PARTITION,
                    column("start", "integer", "First offset."),
                    column("end", "integer", "Where it ends: the offset after the last."),
                    column("records", "integer", "Offsets between; records may be fewer."),
                    column("bytes", "integer", "About how many in the log; null when nobody knows.", null=True),
                    column("destination", "string", "Where they would go.", table=False),
                ),
            ),
        ),
    ),
    Shape(
        name="pipeline.files",
        about="What an import would read, file by file.",
        sections=(
            Section(
                name="files",
                columns=(
                    column("path", "string", "Path of the file."),
                    column("format", "string", "parquet, json, csv, orc, text or delta."),
                    column("records", "integer", "Records in it; null when the file does not say.", null=True),
                    column("bytes", "integer", "Size of the file."),
                    column("destination", "string", "Where they would go.", table=False),
                ),
            ),
        ),
    ),
    Shape(
        name="pipeline.job",
        about="What a pipeline did. With ndjson, rows of `progress` come first, each second.",
        sections=(
            Section(
                name="progress",
                table=False,
                columns=(
                    column("state", "string", "running or ended."),
                    column("topic", "string", "Name of the topic; null is all of them.", null=True),
                    column("partition", "integer", "Number of the partition; null is all of them.", null=True),
                    column("read", "integer", "Records read."),
                    column("bytes", "integer", "Bytes of keys and values read."),
                    column("done", "integer", "Offsets that are behind us."),
                    column("span", "integer", "Offsets in all; null without end.", null=True),
                    column("rate", "number", "Records read per second."),
                    column("eta", "duration", "Seconds that are left; null when nobody knows.", null=True),
                    column("written", "integer", "Records acknowledged; null where none are written.", null=True),
                    column("lag", "integer", "Records not yet read; null in a batch.", null=True),
                ),
            ),
            Section(
                name="jobs",
                columns=(
                    column("name", "string", "Which command it was."),
                    column("state", "string", "done or interrupted."),
                    column("source", "string", "What was read."),
                    column("destination", "string", "Where it went."),
                    column("records", "integer", "Records written; null when nobody counted.", null=True),
                    column("bad", "integer", "Records of which a key or value is null because it did not fit."),
                    column("bytes", "integer", "Bytes of the files; null for topics.", null=True),
                    column("seconds", "number", "How long it took, with Spark running."),
                    column("rate", "number", "Records per second."),
                    column("lag", "integer", "Records not yet read; null in a batch.", null=True),
                    column("checkpoint", "string", "Where it is kept how far it is.", null=True, table=False),
                ),
            ),
        ),
    ),
    Shape(
        name="pipeline.doctor",
        about="What a pipeline needs, and whether it is there.",
        sections=(
            Section(
                name="steps",
                columns=(
                    column("step", "string", "What was looked at."),
                    column("status", "string", "ok, warning or failed."),
                    column("result", "string", "What was found, or what is wrong."),
                    column("mend", "string", "What mends it.", null=True, table=False),
                ),
            ),
        ),
    ),
)
