"""`kcli configs list`."""

from __future__ import annotations

from kcli.admin.configs import KINDS, Resource, about, describe_configs, list_resources, own, resource
from kcli.admin.topics.topics import describe_topics
from kcli.cli.commands.configs.named import NamedRow, name_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster


class ResourceRow(NamedRow, section="resources"):
    configs: int = column("Number of overrides.", unit="count")


SHAPE = shape("configs.list", "Resources with overrides, one a row.", ResourceRow, empty="no overrides")


@command(
    "configs list",
    help="List resources that have overrides.",
    words="KIND",
    examples="""
kcli configs list topic
kcli configs list group
kcli configs list client-metrics -J""",
)
def list_all(options: ReadOptions) -> int:
    """List resources of a kind that have overrides, and how many.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers.
    """
    if not options.words:
        raise UsageError(f"missing KIND: {', '.join(KINDS)}")
    kind, *names = options.words
    resource(kind, "0" if kind in ("broker", "logger") else "")
    if names:
        raise UsageError(f"unexpected argument {names[0]!r}: kcli configs get {kind} {names[0]} shows its configs")

    async def work(cluster: Cluster, document: Document) -> None:
        resources = [Resource(kind, name) for name in await _names(cluster, kind)]
        rows = document.of(ResourceRow)
        for at, configs in (await describe_configs(cluster, resources)).items():
            if isinstance(configs, KcliError):
                document.fail(configs, about(at))
            else:
                count = sum(own(at, config) for config in configs)
                if count:
                    rows.append(ResourceRow(kind=at.kind, name=name_of(at), configs=count))

    return answer(options, SHAPE, work)


async def _names(cluster: Cluster, kind: str) -> list[str]:
    if kind == "topic":
        return list(await describe_topics(cluster, None, internal=False))
    if kind in ("broker", "logger"):
        return [str(node.id) for node in await cluster.nodes()]
    return await list_resources(cluster, kind)
