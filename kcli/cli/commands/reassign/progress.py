"""`kcli reassign list` and `verify`: what moves, how far it is, whether it is where it should be."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.reassign import assignment_file
from kcli.admin.reassign.move_progress import Share, shares
from kcli.admin.reassign.reassignments import Ongoing, list_reassignments
from kcli.admin.storage.disks import Replica
from kcli.admin.storage.log_dirs import log_dirs
from kcli.cli.commands.reassign.plan import file_of
from kcli.cli.commands.reassign.wait import Watch
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, say
from kcli.errors import KcliError, UsageError
from kcli.grammar.units import number_of
from kcli.model import Cluster, TopicPartition

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

MOVING = 3  # exit code: an assertion, that all is done, did not hold


def show(values: Values) -> int:
    """`kcli reassign list`."""
    over = 1.0 if values["over"] is None else number_of(values["over"].removesuffix("s"), "--over")

    async def work(cluster: Cluster, document: Document) -> None:
        ongoing, before, now, seconds = await _looked(cluster, over)
        document.rows["partitions"] = [
            {"topic": at.topic, "partition": at.partition, **_progress(one, before[at], now[at], seconds)}
            for at, one in ongoing.items()
        ]
        if not ongoing:
            say(values, "nothing is being moved")

    return answer(values, "reassign.list", work)


async def _looked(
    cluster: Cluster, over: float
) -> tuple[dict[TopicPartition, Ongoing], dict[TopicPartition, Share], dict[TopicPartition, Share], float]:
    """What moves, how far it was and is, and the seconds between."""
    ongoing = await list_reassignments(cluster)
    before = now = await shares(cluster, ongoing)
    clock, begun = asyncio.get_running_loop().time, asyncio.get_running_loop().time()
    if not ongoing or not over:
        return ongoing, before, now, 0.0
    await asyncio.sleep(over)
    now = await shares(cluster, ongoing)
    return ongoing, before, now, clock() - begun


def _progress(one: Ongoing, before: Share, now: Share, seconds: float) -> Row:
    rate = max(before.left - now.left, 0) / seconds if seconds else None
    return {
        "replicas": one.replicas,
        "adding": one.adding,
        "removing": one.removing,
        "size": now.size,
        "left": now.left,
        "rate": rate,
        "eta": now.left / rate if rate else None,
    }


def verify(values: Values) -> int:
    """`kcli reassign verify [FILE]`."""
    words = values["words"]
    if len(words) > 1:
        raise UsageError("one FILE, or none for all that is under way")
    wanted: Assignment = {}
    dirs: dict[Replica, str] = {}
    if words:
        file_of(values)
        wanted, dirs = assignment_file.read(words[0])
    if values["timeout"] is not None and not values["wait"]:
        raise UsageError("--timeout goes with --wait")

    async def work(cluster: Cluster, document: Document) -> int | None:
        targets = wanted if words else {at: one.target for at, one in (await list_reassignments(cluster)).items()}
        rows = {at: _row(at, brokers) for at, brokers in targets.items()}
        document.rows["partitions"] = list(rows.values())
        with Watch(cluster, values) as watch:
            if values["wait"]:
                await watch.until_done(targets)
            code = await watch.finish(document, rows, sorted({at.topic for at in targets}) if words else None)
        await _on_disks(cluster, document, rows, dirs)
        ongoing = await list_reassignments(cluster, targets)
        now = await shares(cluster, ongoing)
        for at, one in ongoing.items():
            rows[at] |= {"replicas": one.replicas, "size": now[at].size, "left": now[at].left}
        if not rows:
            say(values, "nothing is being moved")
        if code is None and not document.errors and any(row["result"] == "moving" for row in rows.values()):
            return MOVING
        return code

    return answer(values, "reassign.verify", work)


def _row(at: TopicPartition, brokers: list[int]) -> Row:
    return {
        "topic": at.topic, "partition": at.partition, "new": brokers, "replicas": None, "size": None, "left": None,
        "result": "moving", "error": None,
    }  # fmt: skip


async def _on_disks(
    cluster: Cluster, document: Document, rows: dict[TopicPartition, Row], dirs: dict[Replica, str]
) -> None:
    """Whether replicas are in the directories that the file names for them."""
    if not dirs:
        return
    places, _ = await log_dirs(cluster, brokers={at.broker for at in dirs})
    here = {
        (Replica(one.topic, one.partition, one.broker), one.future): place.directory
        for place in places
        for one in place.replicas
    }
    for at, wanted in dirs.items():
        row = next(row for key, row in rows.items() if (key.topic, key.partition) == (at.topic, at.partition))
        if here.get((at, False)) == wanted or row["result"] != "done":
            continue
        if here.get((at, True)) == wanted:
            row["result"] = "moving"
            continue
        problem = KcliError(
            f"{at.topic} [{at.partition}] at broker {at.broker} is in {here.get((at, False))} and not in {wanted}"
        )
        row["result"], row["error"] = "failed", str(problem)
        document.fail(problem, f"{at.topic} [{at.partition}]")
