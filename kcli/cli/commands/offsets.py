"""`kcli offsets`: where logs start and end, by time too, and a group's committed offsets."""

from __future__ import annotations

import asyncio
import time

from kcli.admin.groups.commits import committed_offsets
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, TieredOffsets, list_offsets, tiered_offsets
from kcli.cli.output.tables.rows import Row, column, moment, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions, TimeFieldOptions
from kcli.cli.runtime.answer import answer, fail_all, words_of
from kcli.cli.runtime.names import names_of, topic_names
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Annotated

    import typer

    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import LagIsolation
    from kcli.model import Cluster, OffsetAndMetadata
    from kcli.seeking.seeking import First

    Answers = dict[TopicPartition, LogOffset | KcliError]
    Commits = dict[TopicPartition, OffsetAndMetadata | KcliError]
    AtTime = Callable[[Cluster, Answers, Answers], Awaitable[Answers]]
    """Looks up the first offsets of a time, where logs start and end being known."""


class OffsetsRow(Row, section="partitions"):
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    start: int | None = column("Log start offset.")
    stable: int | None = column("Last stable offset: where read_committed ends.", rank=3)
    end: int | None = column("High watermark: where read_uncommitted ends.", rank=1)
    span: int | None = column("end minus start: the maximum number of records.", unit="count")
    leader: int | None = column("Id of the leading broker; null if leaderless.", table=False)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")
    at_offset: int | None = column("First offset at or after --at; the end if no record is that late.", sparse=True)
    at_timestamp: int | None = moment("Timestamp (ms) of the record there; null at the end.", sparse=True)
    committed: int | None = column("Committed offset of --group.", sparse=True)
    lag: int | None = column(
        "Offsets behind: end minus committed; null without a commit.", sparse=True, unit="count", rank=1
    )
    local_start: int | None = column("First offset on the leader's disk; null without tiered storage.", sparse=True)
    tiered: int | None = column("Last offset in remote storage; null without one.", sparse=True)
    pending: int | None = column(
        "First offset that is not in remote storage yet; null without tiered storage.", sparse=True, rank=3
    )


SHAPE = shape("offsets", "Start and end offsets of partitions.", OffsetsRow)


class OffsetsOptions(NamedTopics, PatternOptions, TimeFieldOptions, ReadOptions):
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME", help="Add the first offset at this time: ISO 8601, epoch, -1h, today, 07:30."
        ),
    ] = None
    group: Annotated[
        str | None, typer.Option("-g", "--group", metavar="GROUP", help="Add the committed offsets of this group.")
    ] = None
    isolation: LagIsolation = None


@command(
    "offsets",
    words="TOPIC",
    examples="""
kcli offsets orders
kcli offsets 'orders-*'
kcli offsets orders --at -1h            # the offset an hour ago
kcli offsets orders --at -1h --time-field event.ts    # by a time in the values
kcli offsets orders -g billing -J       # with the group's commits and lag""",
)
def offsets(options: OffsetsOptions) -> int:
    """Print start, stable and end offset of each partition; with tiered storage, also the offsets on the leader's disk
    and in remote storage.
    """
    names = names_of(options, words_of(options, "TOPIC"))
    at_time = _at_time(options)

    async def work(cluster: Cluster, document: Document) -> None:
        topics = await describe_topics(cluster, await topic_names(cluster, names))
        await fail_all(document, bad(topics), TopicMissing, lambda: describe_topics(cluster, internal=False))
        commits = await _commits(cluster, options.group, document)
        level = options.isolation or "read_uncommitted"
        partitions = document.of(OffsetsRow)
        partitions += await rows(cluster, good(topics), commits, level, at_time)
        for row in partitions:
            if row.error:
                document.fail(KcliError(row.error), f"{row.topic} [{row.partition}]")

    return answer(options, SHAPE, work)


async def rows(
    cluster: Cluster, topics: dict[str, Topic], commits: Commits | None, isolation: str, at_time: AtTime | None = None
) -> list[OffsetsRow]:
    """A row for each partition; commits were read before, so lag is not negative by construction. `at_time` looks up
    the offsets of a time."""
    leaders = {TopicPartition(t.topic, p.partition): p.leader for t in topics.values() for p in t.partitions}
    await cluster.refresh(list(topics))
    ends, stable, starts, tiers = await asyncio.gather(
        list_offsets(cluster, dict.fromkeys(leaders, LATEST)),
        list_offsets(cluster, dict.fromkeys(leaders, LATEST), isolation="read_committed"),
        list_offsets(cluster, dict.fromkeys(leaders, EARLIEST)),
        tiered_offsets(cluster, [at for at, leader in leaders.items() if leader >= 0]),
    )
    timed = {} if at_time is None else await at_time(cluster, starts, ends)
    rows: list[OffsetsRow] = []
    for at, leader in leaders.items():
        start, limit, end = _offset(starts[at]), _offset(stable[at]), _offset(ends[at])
        answers = (starts[at], stable[at], ends[at], timed.get(at))
        problem = next((answer for answer in answers if isinstance(answer, KcliError)), None)
        position = None if commits is None else _position(commits.get(at))
        until = limit if isolation == "read_committed" else end
        at_offset, at_timestamp = _timed(timed.get(at), end)
        tier = tiers.get(at, TieredOffsets())
        rows.append(
            OffsetsRow(
                topic=at.topic,
                partition=at.partition,
                start=start,
                stable=limit,
                end=end,
                span=end - start if end is not None and start is not None else None,
                leader=leader if leader >= 0 else None,
                error=str(problem) if problem is not None else None,
                at_offset=at_offset,
                at_timestamp=at_timestamp,
                committed=position,
                lag=max(until - position, 0) if position is not None and until is not None else None,
                local_start=tier.local_start,
                tiered=tier.last,
                pending=tier.pending,
            )
        )
    return rows


def _timed(answer: LogOffset | KcliError | None, end: int | None) -> tuple[int | None, int | None]:
    """The first offset of --at, and its time; the end where no record is that young."""
    if not isinstance(answer, LogOffset):
        return None, None
    offset = answer.offset if answer.offset >= 0 else end
    return offset, answer.timestamp if answer.timestamp >= 0 else None


def _at_time(options: OffsetsOptions) -> AtTime | None:
    """How to look up the offsets of --at: by the records' timestamps, or by a field of the values. Raises
    UsageError."""
    moment = _moment(options.at)
    if options.time_field is options.jitter is options.value_format is None:
        return None if moment is None else _by_timestamp(moment)
    from kcli.cli.commands.consume.payload_time import by_registry, field_of, firsts, jitter_of, refuse_without_field

    refuse_without_field(options)
    if moment is None:
        raise UsageError("--time-field needs a time: add --at TIME")
    time, field, jitter = moment, field_of(options), jitter_of(options.jitter)

    async def by_field(cluster: Cluster, starts: Answers, ends: Answers) -> Answers:
        ranges = {
            at: (start.offset, end.offset)
            for at, start in starts.items()
            if isinstance(start, LogOffset) and isinstance(end := ends[at], LogOffset)
        }
        async with by_registry(field, options):
            answers = await firsts(cluster, field, ranges, time, jitter, quiet=options.quiet)
        return {at: first if isinstance(first, KcliError) else _log_offset(first) for at, first in answers.items()}

    return by_field


def _by_timestamp(moment: int) -> AtTime:
    async def by_timestamp(cluster: Cluster, starts: Answers, ends: Answers) -> Answers:
        return await list_offsets(cluster, dict.fromkeys(starts, moment))

    return by_timestamp


def _log_offset(first: First) -> LogOffset:
    return LogOffset() if first.time is None else LogOffset(offset=first.offset, timestamp=first.time)


def _offset(answer: LogOffset | KcliError) -> int | None:
    return answer.offset if isinstance(answer, LogOffset) else None


def _position(commit: OffsetAndMetadata | KcliError | None) -> int | None:
    return None if commit is None or isinstance(commit, KcliError) or commit.offset < 0 else commit.offset


async def _commits(cluster: Cluster, group: str | None, document: Document) -> Commits | None:
    if group is None:
        return None
    from kcli.admin.groups.groups import find_groups

    coordinators = Coordinators(cluster)
    described = (await find_groups(coordinators, [group]))[0][group]
    if isinstance(described, KcliError):
        document.fail(described, group)
        return None
    commits = (await committed_offsets(coordinators, [group]))[group]
    if isinstance(commits, KcliError):
        document.fail(commits, group)
        return None
    return commits


def _moment(text: str | None) -> int | None:
    """Milliseconds of `--at`. Raises UsageError."""
    if text is None:
        return None
    from kcli.grammar.offsets import TIMES, read_time

    moment = read_time(text.removeprefix("@"), int(time.time() * 1000))
    if moment is None:
        raise UsageError(f"--at {text}: expected a time: {TIMES}")
    return moment
