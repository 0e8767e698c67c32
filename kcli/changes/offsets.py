"""Changes of the committed offsets of groups: reset, restore, copy from another group, delete.

A reset has a Form, which determines the wanted offset of a partition (`offset_forms.py`). It is clamped to the log,
because for an offset outside of it the consumer's reset policy would decide. Deletions are decided by topic (KIP-496):
an active group can lose commits of topics to which no member is subscribed.
"""

from __future__ import annotations

import asyncio

from kcli.admin.groups.commits import delete_commits, delete_starts, write_commits, write_starts
from kcli.admin.groups.groups import find_groups, group_names, some_members
from kcli.admin.groups.offset_files import SCHEMA
from kcli.admin.groups.offset_files import row as saved
from kcli.admin.groups.reset_plan import LIVE, GroupLive, standing, standings, targets
from kcli.admin.groups.rows import Described, GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import PATIENCE, bad
from kcli.changes.change import UNCHANGED, Plan, Row, Undo
from kcli.changes.offset_forms import Rewind, given
from kcli.errors import BrokerError, KcliError
from kcli.model import OffsetAndMetadata
from kcli.text.suggest import did_you_mean
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
    from typing import ClassVar, TypeVar

    from kcli.admin.groups.reset_plan import PartitionOffsets, Target
    from kcli.changes.offset_forms import Form, Prepare
    from kcli.model import Cluster, TopicPartition

    Decided = TypeVar("Decided", bound="OffsetRow")
    Commits = Mapping[TopicPartition, OffsetAndMetadata | None]
    Where = Callable[[Cluster, Collection[TopicPartition]], Awaitable[Sequence[TopicPartition]]]
    """Finds the selected partitions of a group that has committed offsets of these."""


RESET, DELETED = ("would reset", UNCHANGED, "reset"), ("would delete", UNCHANGED, "deleted")


class OffsetRow(Row):
    """A partition of the group `name`. `result` is would reset, would delete, unchanged, skipped, refused or failed;
    afterwards reset, deleted, failed or unknown. `share`: of a share group, for which offsets are start offsets."""

    at: TopicPartition = field()
    share: bool = False
    before: OffsetAndMetadata | None = None
    after: OffsetAndMetadata | None = None
    start: int | None = None
    end: int | None = None
    columns: ClassVar[Sequence[str]] = (
        "group=name topic=at.topic partition=at.partition old=before.offset new=after.offset delta lag "
        "result note start end"
    ).split()

    @property
    def delta(self) -> int | None:
        """How far the offset moves; None if there is none before or after."""
        return self.after.offset - self.before.offset if self.after is not None and self.before is not None else None

    @property
    def skipped(self) -> int:
        """Offsets in the log that are unread now and would never be read."""
        if self.after is None or self.start is None or self.end is None:
            return 0
        first = self.start if self.before is None else max(self.before.offset, self.start)
        return max(min(self.after.offset, self.end) - first, 0)

    @property
    def again(self) -> int | None:
        """Offsets in the log that were read and will be read again; None where it is not known where the log begins or
        ends."""
        if self.before is None or self.after is None:
            return 0
        if self.start is None or self.end is None:
            return None
        return max(min(self.before.offset, self.end) - max(self.after.offset, self.start), 0)

    @property
    def lag(self) -> int | None:
        """The lag afterwards, in offsets; None without an offset."""
        return None if self.after is None or self.end is None else max(self.end - self.after.offset, 0)


async def plan(
    cluster: Cluster,
    groups: Iterable[str],
    where: Where,
    prepare: Prepare | Rewind,
    *,
    create: bool = False,
    skip: bool = False,
) -> Plan:
    """Return the plan that resets groups: a row for each partition.

    A group that does not exist is an error unless it may be created. So is a group without committed offsets if these
    determine the partitions, unless such groups are skipped.
    """
    known = await _known(cluster, groups, create=create)
    meant = {name: list(await where(cluster, target.committed)) for name, target in known.items()}
    empty = [known[name] for name, some in meant.items() if not some]
    if empty and (not skip or len(empty) == len(meant)):
        no_offsets = KcliError(f"{empty[0].group}: the group has committed no offsets").hinted("name-topics")
        raise empty[0].refusal or no_offsets
    if isinstance(prepare, Rewind):
        forms = [await _form_of(cluster, prepare, known[name], some) for name, some in meant.items()]
    else:
        forms = [await prepare(cluster, sorted({at for some in meant.values() for at in some}))] * len(meant)
    wanted = zip(meant.items(), forms, strict=True)
    return await _planned(cluster, [(known[name], some, form) for (name, some), form in wanted])


async def plan_parts(
    cluster: Cluster,
    group: str,
    parts: Callable[[Target], Iterable[tuple[Collection[TopicPartition], Prepare | Rewind]]],
) -> Plan:
    """Return the plan that resets one group, which may have to be created: each part of its partitions with a separate
    form."""
    target = (await _known(cluster, [group], create=True))[group]
    forms = [(target, sorted(some), await _form_of(cluster, prepare, target, some)) for some, prepare in parts(target)]
    return await _planned(cluster, forms)


async def _form_of(
    cluster: Cluster, prepare: Prepare | Rewind, target: Target, some: Collection[TopicPartition]
) -> Form:
    if isinstance(prepare, Rewind):
        return await prepare.form(cluster, {at: target.committed[at] for at in some if at in target.committed})
    return await prepare(cluster, sorted(some))


async def plan_restore(
    cluster: Cluster, wanted: Mapping[str, Commits], *, plain: bool = False, create: bool = False
) -> Plan:
    """Return the plan that gives groups these offsets, None for none. `plain`: an offset that is already committed
    keeps its epoch and metadata."""
    known = await _known(cluster, wanted, create=create)
    return await _planned(
        cluster, [(known[name], list(some), given(some, plain=plain)) for name, some in wanted.items()]
    )


async def plan_copy(
    cluster: Cluster,
    source: str,
    groups: Iterable[str],
    has: Callable[[TopicPartition], bool] | None = None,
    *,
    create: bool = False,
) -> Plan:
    """Return the plan that gives groups the offsets committed by another, for partitions where `has` returns true."""
    target = (await targets(Coordinators(cluster), [source]))[source]
    if target.missing:
        return Plan(failed={source: await missing(cluster, source)})
    if target.share:
        raise KcliError(f"{source}: a share group has no committed offsets to copy; its state is kept per record")
    if target.refusal is not None and not isinstance(target.refusal, GroupLive):
        raise target.refusal  # an active group can be copied from
    for at, problem in bad(target.commits).items():
        if has is None or has(at):
            raise problem  # part of a group's offsets would not be a copy
    commits = {at: commit for at, commit in target.committed.items() if has is None or has(at)}
    if not commits:
        raise KcliError(f"{source}: the group has committed no offsets{' there' if has is not None else ''}")
    return await plan_restore(cluster, dict.fromkeys(groups, commits), create=create)


async def plan_deletion(cluster: Cluster, groups: Iterable[str], where: Where) -> Plan:
    """Return the plan that deletes offsets: a row for each partition. One without a commit is unchanged, which is not
    an error."""
    rows: list[OffsetRow] = []
    failed: dict[str, KcliError] = {}
    for name, target in (await targets(Coordinators(cluster), groups)).items():
        if target.missing:
            failed[name] = await missing(cluster, name)
            continue
        ats, committed = sorted(await where(cluster, target.commits)), target.committed
        refusals = {topic: _subscribed(target, topic) for topic in {at.topic for at in ats}}
        for at in ats:
            row = OffsetRow(name=name, about=name, at=at, share=target.share, words=DELETED)
            rows.append(row)
            row.before, unread = committed.get(at), target.commits.get(at)
            row.settle(None, unchanged=row.before is None)
            if isinstance(unread, KcliError):
                row.settle(unread)
            else:
                _refuse(row, refusals[at.topic])
        _refuse_parts_of_topics(target, rows)
    return _made(rows, failed)


def decide(row: Decided, standing: PartitionOffsets | KcliError, form: Form) -> Decided:
    """Complete the row of one partition: the offset of the form, within the log."""
    if isinstance(standing, KcliError):
        row.settle(standing)
        return row
    row.before = row.after = standing.old
    row.start, row.end, row.words = standing.start, standing.end, RESET
    wanted = form(row.at, standing)
    if isinstance(wanted, KcliError):
        row.settle(wanted)
        return row
    old, new = standing.old, wanted.commit
    notes = [wanted.note] if wanted.note else []
    if wanted.keep:
        row.result = "skipped"
    elif new is None:
        row.result, row.words, row.after = "would delete" if old is not None else UNCHANGED, DELETED, None
    else:
        place = new.offset if wanted.exact else min(max(new.offset, standing.start), standing.end)
        if place != new.offset:
            where = "before the log's start" if place > new.offset else "past the log's end"
            notes.append(f"clamped: {new.offset} is {where}")
            new = OffsetAndMetadata(offset=place, metadata=new.metadata)  # without the epoch of a deleted record
        if old is not None and old.offset == new.offset and (wanted.plain or old == new):
            row.result = UNCHANGED
        else:
            row.result, row.after = "would reset", new
    row.note = "; ".join(notes) or None
    return row


async def missing(cluster: Cluster, group: str) -> GroupMissing:
    """Return the error for a group that does not exist, with the most similar name."""
    return GroupMissing(group, did_you_mean(group, await group_names(cluster)))


async def _known(cluster: Cluster, groups: Iterable[str], *, create: bool) -> dict[str, Target]:
    """Return the groups. Raises GroupMissing for one that does not exist, unless it may be created."""
    known = await targets(Coordinators(cluster), groups)
    for name, target in known.items():
        if target.missing and not create:
            raise (await missing(cluster, name)).hinted("create-group")
    return known


async def _planned(cluster: Cluster, wanted: Iterable[tuple[Target, list[TopicPartition], Form]]) -> Plan:
    """Return a row for each partition of each group, sorted by name and number, with the offset of its form. If a group
    must not be changed, the rows say so."""
    some = list(wanted)
    logs = await standings(cluster, (at for _, partitions, _ in some for at in partitions))
    rows: list[OffsetRow] = []
    for target, partitions, form in some:
        for at in sorted(partitions):
            row = OffsetRow(name=target.group, about=target.group, at=at, share=target.share)
            decide(row, standing(target, at, logs[at]), form)
            if row.share and row.result == UNCHANGED and row.after is not None:
                row.result = "would reset"  # records after the start may already be acknowledged
            _refuse(row, target.refusal)
            rows.append(row)
        _refuse_parts_of_topics(target, rows)
    return _made(sorted(rows, key=lambda row: (row.name, row.at)))


def _made(rows: Sequence[OffsetRow], failed: dict[str, KcliError] | None = None) -> Plan:
    ready = [row for row in rows if row.is_open]
    undo = undo_of([(row.name, row.at, row.before) for row in ready])

    async def apply(cluster: Cluster) -> None:
        await execute(Coordinators(cluster), ready)

    return Plan(rows=list(rows), failed=failed or {}, undo=undo).applied_by(apply)


def _refuse(row: OffsetRow, error: KcliError | None) -> None:
    if error is not None:
        row.result, row.error = "refused", error


# -- deleting ---------------------------------------------------------------------------------------------------------


class Subscribed(KcliError):
    """Members are subscribed to the topic."""


def _subscribed(target: Target, topic: str) -> KcliError | None:
    """Return why commits of this topic are kept; for pattern subscriptions the coordinator decides."""
    group = target.described
    if not isinstance(target.refusal, GroupLive) or group is None or group.protocol != "consumer":
        return target.refusal  # subscriptions are known for consumers only
    readers = [
        member
        for member in group.members
        if topic in member.topics or any(at.topic == topic for at in member.assignment)
    ]
    if not readers:
        return None
    return Subscribed(
        f"{target.group}: {topic} is read by {some_members(readers)}; its offsets can be deleted only when no member "
        f"is subscribed to it"
    )


def _refuse_parts_of_topics(target: Target, rows: Iterable[OffsetRow]) -> None:
    """Refuse to delete the start of some partitions of a topic: a share group forgets a topic as a whole."""
    if not target.share:
        return
    gone: dict[str, list[OffsetRow]] = {}
    for row in rows:
        if row.name == target.group and row.result == "would delete":
            gone.setdefault(row.at.topic, []).append(row)
    for topic, some in gone.items():
        if {at for at in target.committed if at.topic == topic} - {row.at for row in some}:
            error = KcliError(
                f"{target.group}: a share group can only forget all partitions of a topic: delete its offsets for "
                f"the whole topic {topic}"
            )
            for row in some:
                _refuse(row, error)


# -- applying and undo ------------------------------------------------------------------------------------------------


async def execute(coordinators: Coordinators, rows: Iterable[OffsetRow], *, patience: float = PATIENCE) -> None:
    """Make the changes of open rows; each row gets its own outcome."""
    by_group: dict[str, list[OffsetRow]] = {}
    for row in rows:
        by_group.setdefault(row.name, []).append(row)
    await asyncio.gather(*(_one_group(coordinators, name, some, patience) for name, some in by_group.items()))


async def _one_group(coordinators: Coordinators, group: str, rows: list[OffsetRow], patience: float) -> None:
    write, delete = (write_starts, delete_starts) if rows[0].share else (write_commits, delete_commits)
    written = {row.at: row.after for row in rows if row.after is not None}
    gone = [row.at for row in rows if row.after is None]
    done = await write(coordinators, group, written, patience=patience) if written else {}
    if gone:
        done |= await delete(coordinators, group, gone, patience=patience)
    live: KcliError | None = None
    for row in rows:
        outcome = done[row.at]
        if isinstance(outcome, BrokerError) and outcome.code in LIVE:
            outcome = live = live or await _now_live(coordinators, group, outcome)
        row.settle(outcome if isinstance(outcome, KcliError) else None)


async def _now_live(coordinators: Coordinators, group: str, error: KcliError) -> KcliError:
    """Name the members that joined after the check."""
    described = (await find_groups(coordinators, [group]))[0][group]
    if isinstance(described, Described) and described.members:
        return GroupLive(described)
    return error


def undo_of(before: Sequence[tuple[str, TopicPartition, OffsetAndMetadata | None]]) -> Undo:
    """Return the undo data of these commits, which `offset_files.read` reads; None if there was no commit."""
    if not before:
        return Undo()
    document = {"schema": SCHEMA, "ok": True, "offsets": [saved(*commit) for commit in before], "errors": []}
    return Undo(document=document, file="-".join(sorted({group for group, _, _ in before})))
