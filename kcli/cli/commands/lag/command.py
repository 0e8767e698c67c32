"""`kcli lag`: one snapshot of who is how far behind, and the assertion that nobody is."""

from __future__ import annotations

import sys

from kcli.admin.groups.groups import group_names, progress_of
from kcli.admin.groups.rows import STATES, GroupMissing
from kcli.cli.main import complain
from kcli.cli.runtime.answer import answer, fail_all, plural, say, some_of, unlisted
from kcli.errors import KcliError, UsageError
from kcli.lag import figures as engine
from kcli.lag.snapshot import GroupSnapshot, Snapshot, take
from kcli.lag.status import NO_COMMIT, SEVERITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.render import Document
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster


OVER_TIME = ("watch", "max_time", "hold", "timeout", "exact", "prometheus", "replay", "count")
"""Options that one snapshot does not answer."""


def run(values: Values) -> int:
    """`kcli lag [GROUP...]`: one snapshot here, anything over time in `lag_watch`."""
    some_of(values["states"], STATES, "--state")
    if values["words"][:1] == ["record"] or any(values[name] not in (None, False) for name in OVER_TIME):
        from kcli.cli.commands.lag.watch import run as run_over_time

        if values["records"]:
            raise UsageError("--records reads what is left once; it does not go with what looks again and again")
        return run_over_time(values)
    groups, max_lag = values["words"], values["max_lag"]
    level = "partition" if values["partitions"] else values["by"] or ("topic" if groups else "group")
    isolation = values["isolation"] or "read_uncommitted"

    async def work(cluster: Cluster, document: Document) -> int | None:
        shot = await take(
            cluster, groups or (), states=values["states"], isolation=isolation, topics=values["topics"],
            own=values["internal"],
        )  # fmt: skip
        measured = [measure(one, max_lag or 0) for one in shot.groups]
        await problems(cluster, shot, document)
        shown = [one for one in measured if one[1]] if values["topics"] and not groups else measured
        fill(document, shown, level)
        if max_lag is None and not values["quiet"] and not document.errors:
            say_unread(shot, values["topics"], bool(groups))
        if shot.own and (values["verbose"] or sys.stderr.isatty()):
            say(values, f"{_left_out(shot.own)}; --internal shows {'it' if len(shot.own) == 1 else 'them'}")
        if values["records"]:
            from kcli.cli.commands.lag.records import add_records

            await add_records(cluster, measured, document, isolation)
        if max_lag is None:
            return None
        totals = [total for _, _, total in measured]
        why = engine.over(totals, max_lag)
        if not document.errors:
            why = engine.untold(totals, groups or (), ends_move=isolation == "read_committed") + why
        for sentence in why:
            complain(sentence)
        return 3 if why else None

    name = {"topic": "lag", "group": "lag.group", "partition": "lag.partition"}[level]
    return answer(values, name, work)


Measured = tuple[GroupSnapshot, list[engine.Lag], engine.Total]


def measure(shot: GroupSnapshot, threshold: int = 0) -> Measured:
    """A group's partitions and their sum; all its members count there, also those that own nothing."""
    rows = [engine.measure(sample, threshold) for sample in shot.samples]
    total = engine.total(rows, shot.described.group)
    if not rows:
        total.status = NO_COMMIT
    total.members = len(shot.described.members)
    total.hosts = sorted({member.host for member in shot.described.members})
    return shot, rows, total


async def problems(cluster: Cluster, shot: Snapshot, document: Document) -> None:
    """What could not be read, as errors of the document."""
    await fail_all(document, shot.failed, GroupMissing, lambda: group_names(cluster))
    if shot.brokers:
        await unlisted(cluster, document, shot.brokers)
    seen: set[str] = set()
    for group in shot.groups:
        for sample in group.samples:
            if sample.error and sample.error not in seen:
                seen.add(sample.error)
                document.fail(KcliError(sample.error), f"{sample.topic} [{sample.partition}]")


def fill(document: Document, measured: list[Measured], level: str) -> None:
    """The rows of every section; groups worst first, and the most lag first among equals."""
    if level == "group":
        measured.sort(key=lambda m: (-SEVERITY.index(m[2].status), -(m[2].lag or 0), m[2].group))
    document.rows["groups"] = [group_row(shot, total) for shot, _, total in measured]
    rows = [row for _, some, _ in measured for row in some]
    if level == "partition":
        document.rows["partitions"] = [partition_row(row) for row in rows]
    elif level == "topic":
        document.rows["topics"] = [topic_row(total) for total in engine.by_topic(rows)]


def _left_out(groups: list[str]) -> str:
    commands = " and ".join(sorted({progress_of(name) or "" for name in groups}))
    verb = "is" if len(groups) == 1 else "are"
    return f"{plural(len(groups), 'group')} with the progress of kcli {commands} {verb} left out"


def say_unread(shot: Snapshot, topics: list[str], named: bool) -> None:
    """Topics that were asked for and are nobody's are said, else an empty table would look as if all were well."""
    there = {sample.topic for group in shot.groups for sample in group.samples}
    for topic in dict.fromkeys(topics):
        if topic not in there:
            complain(f"{topic}: {'none of these groups' if named else 'no group'} has committed or owns any of it")


def partition_row(row: engine.Lag) -> Row:
    sample = row.sample
    return {
        "group": sample.group,
        "topic": sample.topic,
        "partition": sample.partition,
        "committed": sample.committed,
        "end": sample.end,
        "lag": row.lag,
        "status": row.status,
        "member_id": sample.member_id,
        "host": sample.host,
        "note": engine.note(row.lost, row.beyond, row.unread, sample.error),
        "client_id": sample.client_id,
        "start": sample.start,
        "unread": row.unread,
        "lost": row.lost,
        "beyond": row.beyond,
        "records": None,
        "error": sample.error,
    }


def topic_row(total: engine.Total) -> Row:
    return {
        "group": total.group,
        "topic": total.topic,
        "partitions": total.partitions,
        **figures(total),
    }


def group_row(shot: GroupSnapshot, total: engine.Total) -> Row:
    return {
        "group": total.group,
        "type": shot.described.type,
        "state": shot.described.state or None,
        "topics": total.topics,
        "partitions": total.partitions,
        **figures(total),
        "coordinator": shot.described.coordinator,
    }


def figures(total: engine.Total) -> Row:
    command = progress_of(total.group)
    said = [f"progress of kcli {command}" if command else None]
    said += [engine.note(total.lost, total.beyond, total.unread)]
    said += ["nothing committed"] if not total.partitions else []
    said += [f"{total.no_commit} without a commit"] if total.no_commit else []
    said += [f"{total.unknown} could not be read"] if total.unknown else []
    return {
        "lag": total.lag,
        "status": total.status,
        "members": total.members,
        "hosts": total.hosts,
        "note": "; ".join(filter(None, said)) or None,
        "unread": total.unread if total.no_commit else None,
        "lost": total.lost,
        "beyond": total.beyond,
        "records": None,
        "no_commit": total.no_commit,
        "status_partitions": total.alike,
    }
