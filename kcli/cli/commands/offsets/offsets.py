"""`kcli offsets`: where logs start and end, by time too, and where a group stands."""

from __future__ import annotations

import asyncio
import time

from kcli.admin.groups.committed import committed_offsets
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.asking.leaders import TopicMissing
from kcli.asking.offsets import EARLIEST, LATEST, LogOffset, list_offsets
from kcli.cli.runtime.answer import answer, fail_all, words_of
from kcli.errors import KcliError, UsageError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster, OffsetAndMetadata
    from kcli.seeking.seeking import First

    Answers = dict[TopicPartition, LogOffset | KcliError]
    Payload = Callable[[Cluster, dict[TopicPartition, tuple[int, int]], int], Awaitable[Answers]]


def run(values: Values) -> int:
    """`kcli offsets TOPIC...`."""
    topics, group = words_of(values, "TOPIC"), values["group"]
    isolation = values["isolation"] or "read_uncommitted"
    moment = _moment(values["at"])
    payload = _payload(values)

    async def work(cluster: Cluster, document: Document) -> None:
        found = await describe_topics(cluster, topics)
        await fail_all(document, bad(found), TopicMissing, lambda: describe_topics(cluster, internal=False))
        committed = await _committed(cluster, group, document)
        document.rows["partitions"] = await rows(cluster, good(found), moment, committed, isolation, payload)
        for row in document.rows["partitions"]:
            if row["error"]:
                document.fail(KcliError(row["error"]), f"{row['topic']} [{row['partition']}]")

    return answer(values, "offsets", work)


async def rows(
    cluster: Cluster,
    topics: dict[str, Topic],
    moment: int | None,
    committed: dict[TopicPartition, OffsetAndMetadata | KcliError] | None,
    isolation: str,
    payload: Payload | None = None,
) -> list[Row]:
    """A row for each partition; commits were read before, so lag is not negative by construction. `payload` says where
    in values the time `moment` is looked for."""
    leaders = {TopicPartition(t.topic, p.partition): p.leader for t in topics.values() for p in t.partitions}
    parts = list(leaders)
    await cluster.refresh(list(topics))
    end, stable, start = await asyncio.gather(
        list_offsets(cluster, dict.fromkeys(parts, LATEST)),
        list_offsets(cluster, dict.fromkeys(parts, LATEST), isolation="read_committed"),
        list_offsets(cluster, dict.fromkeys(parts, EARLIEST)),
    )
    timed: Answers = {}
    if moment is not None and payload is not None:
        ranges = {
            at: (first.offset, last.offset)
            for at, first, last in zip(parts, start.values(), end.values(), strict=True)
            if isinstance(first, LogOffset) and isinstance(last, LogOffset)
        }
        timed = await payload(cluster, ranges, moment)
    elif moment is not None:
        timed = await list_offsets(cluster, dict.fromkeys(parts, moment))
    made = []
    for at in parts:
        first, limit, last = _offset(start[at]), _offset(stable[at]), _offset(end[at])
        problems = [one[at] for one in (start, stable, end, timed) if isinstance(one.get(at), KcliError)]
        then = timed.get(at)
        where = committed.get(at) if committed is not None else None
        position = (
            where.offset if where is not None and not isinstance(where, KcliError) and where.offset >= 0 else None
        )
        until = limit if isolation == "read_committed" else last
        made.append(
            {
                "topic": at.topic,
                "partition": at.partition,
                "start": first,
                "stable": limit,
                "end": last,
                "span": last - first if last is not None and first is not None else None,
                "leader": leaders[at] if leaders[at] >= 0 else None,
                "error": str(problems[0]) if problems else None,
                "at_offset": (then.offset if then.offset >= 0 else last) if isinstance(then, LogOffset) else None,
                "at_timestamp": then.timestamp if isinstance(then, LogOffset) and then.timestamp >= 0 else None,
                "committed": position,
                "lag": max(until - position, 0) if position is not None and until is not None else None,
            }
        )
    return made


def _payload(values: Values) -> Payload | None:
    """Looks for times in a field of the values, if the line says so. Raises UsageError."""
    if values["time_field"] is values["jitter"] is values["value_format"] is None:
        return None
    from kcli.cli.commands.consume.payload_time.filter import field_of, jitter_of, refuse_without_field
    from kcli.cli.commands.consume.payload_time.search import firsts

    refuse_without_field(values)
    if values["at"] is None:
        raise UsageError("--time-field says where times are; say which with --at")
    field, jitter, quiet = field_of(values), jitter_of(values["jitter"]), bool(values.get("quiet"))

    async def look(cluster: Cluster, ranges: dict[TopicPartition, tuple[int, int]], moment: int) -> Answers:
        found = await firsts(cluster, field, ranges, moment, jitter, quiet=quiet)
        return {at: one if isinstance(one, KcliError) else _at_time(one) for at, one in found.items()}

    return look


def _at_time(first: First) -> LogOffset:
    return LogOffset() if first.time is None else LogOffset(offset=first.offset, timestamp=first.time)


def _offset(answer: LogOffset | KcliError) -> int | None:
    return answer.offset if isinstance(answer, LogOffset) else None


async def _committed(
    cluster: Cluster, group: str | None, document: Document
) -> dict[TopicPartition, OffsetAndMetadata | KcliError] | None:
    if group is None:
        return None
    from kcli.admin.groups.groups import find_groups

    coordinators = Coordinators(cluster)
    described, _ = await find_groups(coordinators, [group])
    problem = described[group]
    found = None if isinstance(problem, KcliError) else (await committed_offsets(coordinators, [group]))[group]
    for error in (problem, found):
        if isinstance(error, KcliError):
            document.fail(error, group)
            return None
    return found  # type: ignore[return-value]  # an error was returned above


def _moment(text: str | None) -> int | None:
    """Milliseconds of `--at`. Raises UsageError."""
    if text is None:
        return None
    from kcli.grammar.offsets import read_time

    moment = read_time(text.removeprefix("@"), int(time.time() * 1000))
    if moment is None:
        raise UsageError(f"--at {text}: expected a time: ISO 8601, epoch seconds or milliseconds, -1h, now")
    return moment
