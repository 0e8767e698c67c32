"""`kcli pipeline checkpoint WHERE --reset-to PLACE`: where the next run begins; the plan first, then the change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.groups.reset_plan import PartitionOffsets, standings
from kcli.changes.change import Plan
from kcli.changes.offset_forms import Wanted, now_ms, place
from kcli.changes.offsets import OffsetRow, decide
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.groups import ChangeOptions
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.change import apply_plan
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
from kcli.pipeline.jobs.checkpoints import Checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Annotated

    import typer

    from kcli.changes.offset_forms import Form, Prepare

OPTION = "--reset-to"


class PartitionRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    old: int | None = column("First offset of the next batch before.", rank=1)
    new: int | None = column("First offset of the next run; null if unknown.", rank=1)
    delta: int | None = column("New minus old; null if one of them is missing.")
    lag: int | None = column("Records behind the new offset.", unit="count", rank=1)
    result: str = column("would reset, reset, unchanged or failed.", unit="word", rank=1)
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    start: int | None = column("The log start offset.", table=False)
    end: int | None = column("The log end offset.", table=False)
    error: str | None = column(
        "Reason for a failure; null if there was none.", sparse=True, table=False, unit="sentence"
    )


class CheckpointRow(OffsetRow):
    """A partition of the checkpoint `name`."""

    columns: ClassVar[Sequence[str]] = OffsetRow.columns[1:]  # without the group


SHAPE = shape(
    "pipeline.checkpoint-reset",
    "Offsets where a pipeline resumes after a reset of its checkpoint.",
    PartitionRow,
)


class ResetOptions(ChangeOptions):
    """Where the next run begins, and of which partitions."""

    reset_to: Annotated[
        str | None,
        typer.Option(
            OPTION,
            metavar="PLACE",
            help="beginning, end, N, -N (before the end), +N (after the start), @TIME, or JSON as in Spark's options.",
        ),
    ] = None
    topics: Annotated[
        list[str],
        typer.Option(
            "-t", "--topic", metavar="TOPIC[:0,1]", help="Only this topic, or these partitions of it. Repeatable."
        ),
    ]


def reset(options: ResetOptions, where: str, state: Checkpoint) -> int:
    """Move the checkpoint to a place. Returns the exit code. Raises UsageError."""
    from kcli.pipeline.jobs import locks
    from kcli.pipeline.jobs.files import rewinding
    from kcli.pipeline.jobs.lake.table import Reset

    rewinding.check(state)
    locks.check(str(state.path))
    sunk = _sunk(state)
    fixed = _fixed(where, state) if where[:1] == "{" else None
    prepare = _exactly(fixed) if fixed is not None else _form(where)
    partitions = _partitions(options, state, fixed)

    async def planned(cluster: Cluster) -> Plan:
        await _same_cluster(cluster, state)
        form = await prepare(cluster, partitions)
        bounds = await standings(cluster, partitions)
        name = state.path.parent.name
        rows = [CheckpointRow(name=name, about=f"{at.topic}[{at.partition}]", at=at) for at in partitions]
        for row in rows:
            decide(row, _standing(bounds[row.at], state.offsets.get(row.at)), form)
        plan = Plan(rows=list(rows))
        ready = {row.at: row.after.offset for row in rows if row.is_open and row.after is not None}

        async def apply(cluster: Cluster) -> None:
            with locks.held([str(state.path)], "pipeline checkpoint"):
                number = rewinding.rewrite(state, ready, sunk=sunk)
                Reset.note(state.path, number)
            for row in rows:
                row.settle(None)
            _say_done(options, state, ready, number)

        return plan if any(row.error is not None for row in rows) else plan.applied_by(apply)

    return apply_plan(options, SHAPE, PartitionRow, planned, refused="")


def _partitions(
    options: ResetOptions, state: Checkpoint, fixed: dict[TopicPartition, int] | None
) -> list[TopicPartition]:
    """Those of the checkpoint that are meant. Raises UsageError where there are none, or none of a named topic."""
    scope = Scope(options.topics)
    known = sorted(state.offsets or state.planned)
    partitions = [at for at in known if scope.has(at) and (fixed is None or at in fixed)]
    unknown = sorted(set(scope.topics) - {at.topic for at in partitions})
    if unknown or not partitions:
        raise UsageError(f"--topic {unknown[0] if unknown else ''}: {state.path} does not read this partition")
    return partitions


def _sunk(state: Checkpoint) -> bool:
    """Whether a folder of files has the batch that is not whole: Spark's file sink skips its number then. A table knows
    offsets. Raises UsageError for an unknown sink."""
    from kcli.pipeline.jobs.checkpoints import Sink
    from kcli.pipeline.jobs.files import rewinding

    if state.batch == state.committed:
        return False
    sink = Sink.of(state.path)
    if sink is None:
        raise UsageError(
            f"batch {state.batch} is not complete, and kcli did not run this pipeline, so its sink is unknown: let "
            f"the pipeline finish the batch, then reset it"
        )
    return bool(sink.folder) and rewinding.sunk(state, sink.folder)


def _standing(bounds: tuple[int, int] | KcliError, old: int | None) -> PartitionOffsets | KcliError:
    if isinstance(bounds, KcliError):
        return bounds
    return PartitionOffsets(start=bounds[0], end=bounds[1], old=None if old is None else OffsetAndMetadata(offset=old))


def _form(text: str) -> Prepare:
    """One place of the offset grammar, as `groups reset --to` has it."""
    try:
        return place(text, now_ms())[0]
    except UsageError as problem:
        raise UsageError(str(problem).replace("--to ", f"{OPTION} ", 1)) from None


def _fixed(text: str, state: Checkpoint) -> dict[TopicPartition, int]:
    """An offset for each partition, as Spark's own options have it."""
    from kcli.pipeline.offset_options import from_json

    try:
        fixed = from_json(text, OPTION)
    except UsageError as problem:
        raise UsageError(str(problem).removeprefix("option ")) from None
    for at, offset in fixed.items():
        if at not in state.offsets and at not in state.planned:
            raise UsageError(f"{OPTION}: {state.path} does not read {at.topic}[{at.partition}]")
        if offset < 0:
            raise UsageError(f"{OPTION}: {offset} is not an offset of {at.topic}[{at.partition}]")
    return fixed


def _exactly(fixed: dict[TopicPartition, int]) -> Prepare:
    async def prepare(cluster: Cluster, partitions: list[TopicPartition]) -> Form:
        return lambda at, standing: Wanted(commit=OffsetAndMetadata(offset=fixed[at]))

    return prepare


async def _same_cluster(cluster: Cluster, state: Checkpoint) -> None:
    """Raise UsageError unless it is the cluster that the checkpoint is of, where both say which."""
    noted, here = state.notes.get("cluster"), await cluster_id(cluster)
    if noted and here and noted != here:
        raise UsageError(
            f"the checkpoint belongs to cluster {noted}, but this is {here}: choose the other cluster "
            f"with -b or --profile"
        )


def _say_done(options: ResetOptions, state: Checkpoint, ready: dict[TopicPartition, int], number: int) -> None:
    """What was done, and how it is undone."""
    from kcli.pipeline.offset_options import to_json

    say(options, f"the reset is recorded as batch {number} of the checkpoint; the next run starts there")
    old = {at: state.offsets[at] for at in ready if at in state.offsets}
    if old:
        say(options, f"to undo it: {OPTION} '{json.dumps(to_json(old), separators=(',', ':'))}'")
