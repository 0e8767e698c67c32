"""Plans of `groups reset` and `clone`: what the line, a file or another group wants for which partitions."""

from __future__ import annotations

from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.groups import reset_forms
from kcli.admin.groups.groups import group_names
from kcli.admin.groups.reset_plan import GroupLive, Target, plan, targets
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.fan_out import bad
from kcli.cli.runtime.answer import missing, say
from kcli.cli.runtime.names import group_names_of, one_group
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from kcli.admin.groups.offset_files import Saved
    from kcli.admin.groups.reset import Change, Form
    from kcli.asking.coordinators import Coordinators
    from kcli.cli.commands.groups.scope import Scope
    from kcli.cli.output.tables.document import Document
    from kcli.cli.parsing.groups import ConnectionOptions
    from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
    from kcli.text.names import Names

    Commits = dict[TopicPartition, OffsetAndMetadata | None]
    Prepare = Callable[[Cluster, list[TopicPartition]], Awaitable[Form]]
    """Asks the cluster about some partitions; returns where each of them is reset to."""


async def by_form(
    coordinators: Coordinators, groups: Names, scope: Scope, prepare: Prepare, *, create: bool
) -> list[Change]:
    names = await group_names_of(coordinators.cluster, groups, changes=True)
    known = await _targets(coordinators, names, create=create)
    meant: dict[str, list[TopicPartition]] = {}
    for target in known.values():
        meant[target.group] = await scope.partitions(coordinators.cluster, target.committed)
        if not meant[target.group]:
            raise target.refusal or KcliError(
                f"{target.group}: the group has committed no offsets: name topics with --topic"
            )
    form = await prepare(coordinators.cluster, sorted({at for some in meant.values() for at in some}))
    return await plan(coordinators.cluster, [(known[name], some, form) for name, some in meant.items()])


async def from_file(
    options: ConnectionOptions, coordinators: Coordinators, path: str, saved: Saved, groups: list[str], scope: Scope
) -> list[Change]:
    if saved.cluster_id is not None:
        here = await cluster_id(coordinators.cluster)
        if here is not None and here != saved.cluster_id:
            say(options, f"{path} was written for another cluster, {saved.cluster_id}: this is {here}")
    wanted = {group: {at: commit for at, commit in saved.groups[group].items() if scope.has(at)} for group in groups}
    return await _given(coordinators, wanted, plain=saved.plain, create=True)


async def from_group(
    coordinators: Coordinators, names: Names, groups: Names, scope: Scope, document: Document, *, create: bool
) -> list[Change]:
    source = await one_group(coordinators.cluster, names)
    target = (await targets(coordinators, [source]))[source]
    if target.described is None and target.refusal is None:
        missing(document, source, GroupMissing(source), await group_names(coordinators.cluster))
        return []
    if target.share:
        raise KcliError(f"{source}: a share group has no committed offsets to copy; its state is kept by record")
    if target.refusal is not None and not isinstance(target.refusal, GroupLive):
        raise target.refusal  # a group at work may be copied from
    for at, problem in bad(target.commits).items():
        if scope.has(at):
            raise problem  # a part of a group's offsets is no clone
    commits: Commits = {at: commit for at, commit in target.committed.items() if scope.has(at)}
    if not commits:
        raise KcliError(f"{source}: the group has committed no offsets{' there' if scope.named else ''}")
    meant = await group_names_of(coordinators.cluster, groups, changes=True)
    return await _given(coordinators, dict.fromkeys(meant, commits), plain=False, create=create)


async def _given(coordinators: Coordinators, wanted: dict[str, Commits], *, plain: bool, create: bool) -> list[Change]:
    if not any(wanted.values()):
        raise UsageError("--topic matches nothing in the file")
    known = await _targets(coordinators, wanted, create=create)
    wants = [(known[name], sorted(some), reset_forms.given(some, plain=plain)) for name, some in wanted.items()]
    return await plan(coordinators.cluster, wants)


async def _targets(coordinators: Coordinators, groups: Iterable[str], *, create: bool) -> dict[str, Target]:
    """The groups. Raises KcliError for one that does not exist, unless it may be created."""
    known = await targets(coordinators, groups)
    fresh = [name for name, target in known.items() if target.described is None and target.refusal is None]
    if fresh and not create:
        from kcli.text.suggest import did_you_mean

        hint = did_you_mean(fresh[0], await group_names(coordinators.cluster))
        raise KcliError(f"{fresh[0]}: this group does not exist{hint}; --create creates it")
    return known
