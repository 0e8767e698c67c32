"""`kcli configs get`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs import Config, Resource, about, describe_configs, own
from kcli.changes.configs import nearest
from kcli.cli.commands.configs.named import EntityOptions, NamedRow, meant, name_of, named
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ControllerOptions, PatternOptions, ReadOptions
from kcli.cli.runtime.answer import answer, plural, say
from kcli.errors import KcliError
from kcli.model import Cluster

if TYPE_CHECKING:
    from typing import Annotated

    import typer


class ConfigRow(NamedRow, section="configs"):
    kind: str = column("topic, broker, logger, group or client-metrics.", table=False, unit="word")
    config: str = column("Name of the config.", rank=1)
    value: str | None = column("Its value; null for a secret.", rank=1)
    source: str = column("Source of the value: topic, broker, all brokers, server.properties, default, …")
    inherited: str | None = column("Value without this override.", rank=3)
    type: str | None = column("boolean, int, long, list, …", table=False, unit="word")
    secret: bool = column("Whether the value is a secret, which is never shown.", table=False)
    read_only: bool = column("Whether it can only be changed in a file.", table=False)
    documentation: str | None = column("Kafka's explanation.", sparse=True, unit="sentence")


SHAPE = shape("configs.get", "Configs, one a row.", ConfigRow)


class GetOptions(EntityOptions, PatternOptions, ControllerOptions, ReadOptions):
    all: Annotated[bool, typer.Option("-a", "--all", help="Show inherited values too.")] = False
    docs: Annotated[bool, typer.Option("--docs", help="Add Kafka's documentation of each config.")] = False


@command(
    "configs get",
    help="Show configs of a topic, broker, logger, group, …",
    words="KIND NAME [KEY]",
    examples="""
kcli configs get topic orders
kcli configs get topic orders --all
kcli configs get topic 'orders-*' retention.ms     # for all topics that match
kcli configs get topic orders retention.ms cleanup.policy
kcli configs get broker 1 --all --docs
kcli configs get logger 1 --all --format ndjson | jq .""",
)
def get(options: GetOptions) -> int:
    """Print configs: overrides, and with --all the inherited ones too.
    Secrets are never shown.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers. NAME can be a pattern
    for topics or groups.
    """
    at, keys = named(options.words, 2)

    async def work(cluster: Cluster, document: Document) -> None:
        resources = await meant(cluster, at, literal=options.literal)
        rows = document.of(ConfigRow)
        for one, configs in (
            await describe_configs(cluster, resources, names=keys, documentation=options.docs)
        ).items():
            if isinstance(configs, KcliError):
                document.fail(configs, about(one))
                continue
            rows += [_row(one, config) for config in configs if keys or options.all or own(one, config)]
            await _refuse_unknown(cluster, document, one, keys, {config.name for config in configs})
        if not rows and not keys and not document.errors:
            said = about(resources[0]) if len(resources) == 1 else plural(len(resources), at.kind)
            say(
                options, f"{said} {'has' if len(resources) == 1 else 'have'} no overrides; --all shows effective values"
            )

    return answer(options, SHAPE, work)


async def _refuse_unknown(cluster: Cluster, document: Document, at: Resource, keys: list[str], known: set[str]) -> None:
    for key in keys:
        if key not in known:
            hint = await nearest(cluster, at, key) or "; all of them: --all"
            document.fail(KcliError(f"{about(at)} has no config {key}{hint}"), key)


def _row(at: Resource, config: Config) -> ConfigRow:
    return ConfigRow(
        kind=at.kind,
        name=name_of(at),
        config=config.name,
        value=config.value,
        source=config.source,
        inherited=config.inherited,
        type=config.kind or None,
        secret=config.secret,
        read_only=config.read_only,
        documentation=config.documentation or None,
    )
