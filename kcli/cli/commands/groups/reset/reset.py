"""`kcli groups reset`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.groups.offset_files import read
from kcli.changes import offsets
from kcli.changes.offset_forms import now_ms
from kcli.cli.commands.groups import changes
from kcli.cli.commands.groups.changes import ChangeRow
from kcli.cli.commands.groups.reset.forms import FormOptions, check_form, form_of, read_offsets
from kcli.cli.commands.groups.scope import CreateOptions, Scope, ScopeOptions
from kcli.cli.output.tables.rows import shape
from kcli.cli.output.timestamps import utc
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import EveryGroup, NamedGroups, PatternOptions, UndoOptions
from kcli.cli.runtime.answer import say, words_of
from kcli.cli.runtime.names import group_names_of, names_of, one_group
from kcli.errors import UsageError

if TYPE_CHECKING:
    from kcli.admin.groups.offset_files import Saved
    from kcli.changes.change import Plan
    from kcli.changes.offset_forms import Prepare, Rewind
    from kcli.cli.output.tables.shape import Shape
    from kcli.model import Cluster
    from kcli.text.json_object import JsonObject
    from kcli.text.names import Names

SHAPE = shape("groups.reset", "Committed offsets that were changed, or would be: old, new and delta.", ChangeRow)


class ResetOptions(NamedGroups, EveryGroup, PatternOptions, FormOptions, CreateOptions, ScopeOptions, UndoOptions):
    pass


@command(
    "groups reset",
    help="Change the committed offsets of groups.",
    words="GROUP",
    examples="""
kcli groups reset billing --all-topics --to-earliest             # the plan
kcli groups reset 'billing-*' -t '^orders' --to-latest           # all that match
kcli groups reset billing -t orders:0,1 --to-offset 4711 --execute
kcli groups reset billing -t orders --to-datetime 2026-01-31T10:00:00Z --execute
kcli groups reset billing -t orders --to 0=5,1=end                # an offset for each partition
kcli groups reset billing --all-topics --rewind 5m --execute      # rereads the last 5 minutes it has read
kcli groups reset billing --all-topics --by-duration PT1H30M --execute
kcli groups reset billing --all-topics --shift-by -100 --execute
kcli groups reset billing -t orders --to @-2h --execute          # the forms of `consume -o`
kcli groups reset billing -t orders --to @-2h --time-field event.ts --execute    # by a time in the values
kcli groups reset --from-file undo.json --execute                # undo a reset
kcli groups reset billing-2 --from-group billing -t orders --execute""",
)
def reset(options: ResetOptions) -> int:
    """Set the committed offsets of groups that have no members. The plan comes first: old, new and
    delta of each partition; --execute applies it; on a terminal kcli asks for confirmation.

    `kcli undo` restores the previous offsets, and removes those that did not exist before. Offsets outside the log are
    moved to its start or end, with a note. A share group starts at the given offset and forgets what it acknowledged
    after it.
    """
    scope = Scope(options.topics, all_topics=options.all_topics, literal=options.literal)
    check_form(options)
    if (path := options.from_file) is not None:
        return _from_file(options, path, scope)
    groups = names_of(options, words_of(options, "GROUP"))
    if (source := options.from_group) is not None:
        return copy_to(options, SHAPE, names_of(options, [source]), groups, scope, create=options.create)
    refuse_empty(scope)
    prepare, moment = form_of(options, now_ms(), options)
    return reset_to(options, groups, scope, prepare, moment, create=options.create)


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Commit the offsets of an undo file. A group that does not exist is created. Raises ValueError."""
    saved = read(json.dumps(document.fields), "undo file")
    return changes.run(options, SHAPE, lambda cluster: offsets.plan_restore(cluster, saved.groups, create=True))


def copy_to(options: UndoOptions, shape: Shape, source: Names, groups: Names, scope: Scope, *, create: bool) -> int:
    """Commit the offsets of one group for others."""

    async def planned(cluster: Cluster) -> Plan:
        copied, has = await one_group(cluster, source), scope.has if scope.named else None
        meant = await group_names_of(cluster, groups, changes=True)
        return await offsets.plan_copy(cluster, copied, meant, has, create=create)

    return changes.run(options, shape, planned, by_pattern=bool(groups.patterns))


def refuse_empty(scope: Scope) -> None:
    """Raises UsageError where no topic is named."""
    if scope.empty:
        raise UsageError("missing topics: --topic TOPIC, or --all-topics for all topics with committed offsets")


def reset_to(
    options: UndoOptions, groups: Names, scope: Scope, prepare: Prepare | Rewind, moment: int | None, *, create: bool
) -> int:
    """Reset groups by a form. A note says which moment (ms since the epoch) is meant, if one is: a time without a zone
    is a different time for each reader."""
    if moment is not None:
        say(options, f"to {utc(moment)}")

    async def planned(cluster: Cluster) -> Plan:
        meant = await group_names_of(cluster, groups, changes=True)
        return await offsets.plan(cluster, meant, scope.partitions, prepare, create=create)

    return changes.run(options, SHAPE, planned, by_pattern=bool(groups.patterns))


def _from_file(options: ResetOptions, path: str, scope: Scope) -> int:
    saved, groups = _saved(path, options)
    wanted = {group: {at: commit for at, commit in saved.groups[group].items() if scope.has(at)} for group in groups}
    if not any(wanted.values()):
        raise UsageError("--topic matches nothing in the file")

    async def planned(cluster: Cluster) -> Plan:
        here = await cluster_id(cluster) if saved.cluster_id is not None else None
        if here is not None and here != saved.cluster_id:
            say(options, f"{path} was written for cluster {saved.cluster_id}, but this is {here}")
        return await offsets.plan_restore(cluster, wanted, plain=saved.plain, create=options.create)

    return changes.run(options, SHAPE, planned)


def _saved(name: str, options: PatternOptions) -> tuple[Saved, list[str]]:
    """The offsets of a file (- is stdin), and the groups that are meant: those named, or those of the file. A file that
    names no group is about each group named. Raises UsageError."""
    saved = read_offsets(name)
    match = names_of(options, options.words).among(saved.groups)
    groups = match.names
    if "" in saved.groups:
        groups = words_of(options, "missing GROUP: the file has the offsets of one group but not its name")
        plain = saved.groups.pop("")
        saved.groups = {**dict.fromkeys(groups, plain), **saved.groups}
    missing = [group for group in groups if group not in saved.groups] + match.unmatched
    if missing:
        there = ", ".join(list(saved.groups)[:5])
        raise UsageError(
            f"{name} has the offsets of {there}, not of {missing[0]}; `kcli groups clone` copies the offsets of one "
            f"group to another"
        )
    return saved, groups or list(saved.groups)
