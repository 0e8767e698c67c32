"""`kcli topics stats`: how large, how fast, when last written to, and what nobody uses any more."""

from __future__ import annotations

import asyncio
import time

from kcli.admin.topics.stats import TopicLooks, last_writes
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.cli.output.timestamps import utc
from kcli.cli.runtime.answer import answer, missing
from kcli.errors import KcliError, UsageError
from kcli.grammar.offsets import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.topics.stats import TopicRow
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster


def stats(values: Values) -> int:
    """`kcli topics stats [TOPIC...]`."""
    over = _seconds(values["over"], "--over", 1.0)
    unused = _seconds(values["unused"], "--unused", None)
    names: list[str] | None = values["words"] or None

    async def work(cluster: Cluster, document: Document) -> None:
        known = await describe_topics(cluster, names, internal=values["internal"] or names is not None)
        for name, found in known.items():
            if isinstance(found, KcliError):
                missing(document, name, found, await describe_topics(cluster, internal=False))
        there = [name for name, found in known.items() if isinstance(found, Topic)]
        looks = TopicLooks()
        rows = await looks.look(cluster, there, internal=True)
        if over:
            await asyncio.sleep(over)
            rows = await looks.look(cluster, there, internal=True)
        written = await last_writes(cluster, [row.topic for row in rows])
        now = time.time()
        made = [_row(row, written.get(row.topic.topic), now) for row in rows]
        if unused is not None:
            made = [row for row in made if row["idle"] is None or row["idle"] >= unused]
        document.rows["topics"] = sorted(made, key=lambda row: _order(row, values["sort"]))

    return answer(values, "topics.stats", work)


def _row(row: TopicRow, written: float | None, now: float) -> Row:
    return {
        "topic": row.topic.topic,
        "partitions": len(row.topic.partitions),
        "replicas": row.topic.replication_factor,
        "offsets": row.records,
        "size": row.size,
        "rate": None if row.rate is None else round(row.rate, 1),
        "last_write": None if written is None else utc(round(written * 1000), "seconds"),
        "idle": None if written is None else max(round(now - written, 3), 0.0),
        "note": row.problem or None,
    }


def _order(row: Row, by: str | None) -> tuple[bool, float | str, str]:
    """From the largest; what is not known comes last."""
    if by is None or by == "topic":
        return False, "", row["topic"]
    if by == "last_write":
        return row["idle"] is None, row["idle"] or 0.0, row["topic"]
    return row[by] is None, -(row[by] or 0), row["topic"]


def _seconds(text: str | None, flag: str, default: float | None) -> float | None:
    if text is None:
        return default
    found = 0 if text == "0" else duration(text)
    if found is None or found < 0:
        raise UsageError(f"{flag} {text}: expected a duration such as 5s, 12h or 30d")
    return found / 1000
