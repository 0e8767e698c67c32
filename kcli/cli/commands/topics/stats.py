"""`kcli topics stats`: how large, how fast, when last written to, and unused topics."""

from __future__ import annotations

import asyncio
import time

from kcli.admin.topics.stats import TopicStatsReader, last_writes, remote_offsets
from kcli.admin.topics.topics import describe_topics
from kcli.asking.fan_out import bad, good
from kcli.cli.output.tables import rows
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.output.timestamps import utc
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import NamedTopics, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, missing
from kcli.cli.runtime.names import names_of, topic_names
from kcli.grammar.durations import seconds
from kcli.text.numbers import human_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from kcli.admin.topics.stats import TopicStats
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.shared import Internal, KcliOption
    from kcli.model import Cluster


class StatsRow(Row, section="topics"):
    topic: str = column("Name of the topic.", rank=1)
    partitions: int = column("Number of partitions.", unit="count")
    replicas: int = column("Replication factor.", unit="count", rank=3)
    offsets: int | None = column("End minus start of all partitions.", unit="count")
    size: int | None = column("Bytes of the leaders' logs.", unit="bytes")
    rate: float | None = column("Offsets written per second.", unit="rate")
    last_write: str | None = column("Newest timestamp of a record, UTC.", unit="time", rank=3)
    idle: float | None = rows.duration("Seconds since then.")
    note: str | None = column("Note about the row; null without one.", sparse=True, unit="sentence")
    remote: int | None = column("Offsets in remote storage; null without tiered storage.", sparse=True, unit="count")


SHAPE = shape("topics.stats", "Topics with figures, one a row.", StatsRow, empty="no topics")


class StatsOptions(NamedTopics, PatternOptions, ReadOptions):
    internal: Internal = False
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="DURATION", help="Time over which the rate is measured (default 1s)."),
    ] = None
    unused: Annotated[
        str | None,
        KcliOption(
            "--unused",
            metavar="DURATION",
            help="Only topics not written to for this long (default 30d).",
            alone="30d",
        ),
    ] = None


@command(
    "topics stats",
    help="Show size, offsets, rate and last write.",
    words="TOPIC",
    examples="""
kcli topics stats
kcli topics stats orders payments --over 5s
kcli topics stats --unused                            # not written for 30 days
kcli topics stats --sort size --format plain""",
)
def stats(options: StatsOptions) -> int:
    """Print the size of topics, their growth and the time of the last write.

    RATE is measured over --over. Brokers before 3.0 do not report the last write, those before 1.0 no sizes.
    """
    over = seconds(options.over, "--over", 1.0)
    longer = seconds(options.unused, "--unused", None)
    names = names_of(options, options.words)

    async def work(cluster: Cluster, document: Document) -> None:
        chosen = await topic_names(cluster, names, internal=options.internal)
        known = await describe_topics(cluster, chosen if names.words else None, internal=options.internal)
        for name, error in bad(known).items():
            missing(document, name, error, await describe_topics(cluster, internal=False))
        topics = list(good(known))
        reader = TopicStatsReader()
        rows = await reader.read(cluster, topics, internal=True)
        if over:
            await asyncio.sleep(over)
            rows = await reader.read(cluster, topics, internal=True)
        described = [row.topic for row in rows]
        written, remote = await asyncio.gather(last_writes(cluster, described), remote_offsets(cluster, described))
        now = time.time()
        printed = [_row(row, written.get(row.topic.topic), remote.get(row.topic.topic), now) for row in rows]
        if longer is not None:
            document.empty = f"every topic was written to within {human_time(longer)}"
            printed = [row for row in printed if row.idle is None or row.idle >= longer]
        document.of(StatsRow).extend(sorted(printed, key=lambda row: row.topic))

    return answer(options, SHAPE, work)


def _row(row: TopicStats, written: float | None, remote: int | None, now: float) -> StatsRow:
    return StatsRow(
        topic=row.topic.topic,
        partitions=len(row.topic.partitions),
        replicas=row.topic.replication_factor,
        offsets=row.records,
        size=row.size,
        rate=None if row.rate is None else round(row.rate, 1),
        last_write=None if written is None else utc(round(written * 1000), "seconds"),
        idle=None if written is None else max(round(now - written, 3), 0.0),
        note=row.problem or None,
        remote=remote,
    )
