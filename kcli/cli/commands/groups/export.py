"""`kcli groups export`: committed offsets as `groups reset --from-file` and Kafka's own tool read them."""

from __future__ import annotations

import sys
import time

from kcli.admin.cluster.cluster import describe_cluster
from kcli.admin.groups.committed import committed_offsets
from kcli.admin.groups.groups import find_groups, group_names
from kcli.admin.groups.offset_files import csv_text, row
from kcli.admin.groups.rows import GroupMissing
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import bad, good
from kcli.cli.commands.groups.scope import Scope
from kcli.cli.output import render
from kcli.cli.parsing.command import Legacy
from kcli.cli.runtime.answer import answer, fail_all, say, unlisted
from kcli.errors import KcliError
from kcli.text.escape import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.output.render import Document
    from kcli.cli.parsing.option import Values
    from kcli.model import Cluster


def export(values: Values) -> int:
    """`kcli groups export [GROUP...]`."""
    groups, scope = list(dict.fromkeys(values["words"])), Scope(values["topics"])
    values = Legacy({**values, "format": values["format"] or "csv"})

    async def work(cluster: Cluster, document: Document) -> None:
        coordinators = Coordinators(cluster)
        found, brokers = await find_groups(coordinators, groups)
        if brokers:
            await unlisted(cluster, document, brokers)
        gone = bad(found) if groups else {}  # of all groups, one may go away between two questions
        await fail_all(document, gone, GroupMissing, lambda: group_names(cluster))
        names = [name for name, group in good(found).items() if group.type != "share"]
        for name in set(groups) & good(found).keys() - set(names):
            document.fail(KcliError(f"{name}: a share group has no committed offsets"), name)
        commits = await committed_offsets(coordinators, sorted(names))
        for name, error in bad(commits).items():
            document.fail(error, name)
        description = await describe_cluster(cluster)
        document.rows["taken"] = [
            {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "cluster_id": description.cluster_id}
        ]
        rows = document.rows["offsets"] = []
        for name, some in sorted(good(commits).items()):
            for at, error in bad(some).items():
                document.fail(error, f"{name}: {at.topic} [{at.partition}]")
            kept = {at: one for at, one in good(some).items() if one.offset >= 0 and scope.has(at)}
            rows += [row(name, at, kept[at]) for at in sorted(kept)]
            if groups and not kept:
                say(values, f"{name}: the group has committed no offsets{' there' if scope.topics else ''}")

    def printed(document: Document, format: str) -> None:
        if format == "csv":
            # Kafka's tool reads three columns when one group is named on its command line, and four else
            text = csv_text(document.rows.get("offsets", ()), with_group=len(groups) != 1)
            put(text)
            sys.stdout.flush()
        else:
            render.write(document, format)

    return answer(values, "groups.export", work, printed)
