"""`kcli groups export`: committed offsets as `groups reset --from-file` and Kafka's own tool read them."""

from __future__ import annotations

import time

from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.groups.commits import committed_offsets
from kcli.admin.groups.groups import find_groups, group_names
from kcli.admin.groups.offset_files import csv_text, row
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output.tables.render import render
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import FORMATS, EveryGroup, NamedGroups, OutputOptions, PatternOptions
from kcli.cli.runtime.answer import answer, fail_all, say, unlisted
from kcli.cli.runtime.names import group_names_of, names_of
from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.text.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from kcli.cli.output.tables.document import Document
    from kcli.cli.output.terminal import Terminal
    from kcli.cli.parsing.shared import KcliOption, ScopeTopics
    from kcli.model import Cluster


class TakenRow(Row, section="taken", table=False):
    time: str = column("Time of reading, UTC.", unit="time")
    cluster_id: str | None = column("Id of the cluster; null if the cluster reports none.", unit="word")


class OffsetRow(Row, section="offsets"):
    group: str = column("Name of the group.", rank=1)
    topic: str = column("Name of the topic.", rank=1)
    partition: int = column("Number of the partition.", rank=1)
    offset: int | None = column("Committed offset; null (undo files only): nothing committed.", rank=1)
    leader_epoch: int | None = column("Leader epoch committed with it.", sparse=True, rank=3)
    metadata: str | None = column("Text committed with it.", sparse=True, rank=3)


SHAPE = shape(
    "groups.export",
    "Committed offsets, as `groups reset --from-file` reads them; an undo file is such a document.",
    TakenRow,
    OffsetRow,
)


class ExportOptions(NamedGroups, EveryGroup, PatternOptions, OutputOptions):
    topics: ScopeTopics
    format: Annotated[str | None, KcliOption("--format", choices=FORMATS, help="Default csv, Kafka's own.")] = None


@command(
    "groups export",
    help="Print committed offsets, for --from-file.",
    words="GROUP",
    examples="""
kcli groups export billing > billing.csv
kcli groups export 'billing-*' -t '^orders' -J
kcli groups export -J > all-groups.json
kcli groups reset --from-file all-groups.json --dry-run""",
)
def export(options: ExportOptions) -> int:
    """Print the committed offsets of groups, in a form that `groups reset --from-file` reads. All groups, or
    those named.

    csv is the format that `kafka-consumer-groups` exports and reads: TOPIC,PARTITION,OFFSET, with the group in front
    unless you name one GROUP. json keeps leader epochs and metadata, too.
    """
    groups, scope = names_of(options, options.words), Scope(options.topics, literal=options.literal)

    async def work(cluster: Cluster, document: Document) -> None:
        coordinators = Coordinators(cluster)
        names = await _exported(coordinators, await group_names_of(cluster, groups), document)
        commits = await committed_offsets(coordinators, names)
        for name, error in bad(commits).items():
            document.fail(error, name)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        document.of(TakenRow).append(TakenRow(time=now, cluster_id=await cluster_id(cluster)))
        rows = document.of(OffsetRow)
        for name, offsets in sorted(good(commits).items()):
            for at, error in bad(offsets).items():
                document.fail(error, f"{name}: {at.topic} [{at.partition}]")
            kept = {at: commit for at, commit in good(offsets).items() if commit.offset >= 0 and scope.has(at)}
            rows += [OffsetRow(**row(name, at, kept[at])) for at in sorted(kept)]
            if groups.words and not kept:
                say(options, f"{name}: the group has committed no offsets{' there' if scope.named else ''}")

    def written(document: Document, format: str, terminal: Terminal | None) -> str:
        if format != "csv":
            return render(document, format, terminal)
        # Kafka's tool reads three columns when one group is named on its command line, and four else
        rows = document.of(OffsetRow)
        offsets = ((row.group, TopicPartition(row.topic, row.partition), row.offset) for row in rows)
        text = csv_text(offsets, with_group=len(groups.exact) != 1 or len(groups.words) != 1)
        return text if terminal is None else visible(text.replace("\r\n", "\n"), keep="\n\t")

    return answer(options.replace(format=options.format or "csv"), SHAPE, work, written)


async def _exported(coordinators: Coordinators, groups: list[str], document: Document) -> list[str]:
    """The names of the groups that have committed offsets; of all groups where none is named."""
    cluster = coordinators.cluster
    answers, brokers = await find_groups(coordinators, groups)
    if brokers:
        await unlisted(cluster, document, brokers)
    gone = bad(answers) if groups else {}  # of all groups, one may go away between two questions
    await fail_all(document, gone, GroupMissing, lambda: group_names(cluster))
    names = [name for name, group in good(answers).items() if group.type != "share"]
    for name in set(groups) & good(answers).keys() - set(names):
        document.fail(KcliError(f"{name}: a share group has no committed offsets"), name)
    return sorted(names)
