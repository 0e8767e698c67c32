"""`kcli configs get`."""

from __future__ import annotations

from kcli.admin.configs.resources import Config, Resource, about, describe_configs, own
from kcli.cli.commands.configs.named import EntityOptions, NamedRow, name_of, named
from kcli.cli.commands.configs.typed import nearest
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.parsing.option import flag
from kcli.cli.runtime.answer import answer, say
from kcli.errors import KcliError
from kcli.model import Cluster


class ConfigRow(NamedRow, section="configs"):
    kind: str = column("topic, broker, logger, group or client-metrics.", table=False, unit="word")
    config: str = column("Name of the config.", rank=1)
    value: str | None = column("Its value; null for a secret.", rank=1)
    source: str = column("Source of the value: topic, broker, all brokers, server.properties, default, …")
    inherited: str | None = column("What would hold otherwise.", rank=3)
    type: str | None = column("boolean, int, long, list, …", table=False, unit="word")
    secret: bool = column("Whether the value is a secret, which is never shown.", table=False)
    read_only: bool = column("Whether it can only be changed in a file.", table=False)
    documentation: str | None = column("Kafka's explanation.", sparse=True, unit="sentence")


SHAPE = shape("configs.get", "Configs, one a row.", ConfigRow)


class GetOptions(EntityOptions, ReadOptions):
    all = flag("-a", "--all", help="Inherited values too.")
    docs = flag("--docs", help="With Kafka's own explanation of each.")


@command(
    "configs get",
    help="The configs of a topic, broker, logger, group, …",
    words="KIND NAME [KEY]",
    examples="""
kcli configs get topic orders
kcli configs get topic orders --all
kcli configs get topic orders retention.ms cleanup.policy
kcli configs get broker 1 --all --docs
kcli configs get logger 1 --all --format ndjson | jq .""",
)
def get(options: GetOptions) -> int:
    """Print configs: overrides, and with --all the inherited ones too.
    Secrets are never shown.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` is all brokers.
    """
    at, names = named(options.words, 2)

    async def work(cluster: Cluster, document: Document) -> None:
        configs = (await describe_configs(cluster, [at], names=names, documentation=options.docs))[at]
        if isinstance(configs, KcliError):
            document.fail(configs, about(at))
            return
        shown = [config for config in configs if names or options.all or own(at, config)]
        document.of(ConfigRow)[:] = [_row(at, config) for config in shown]
        if not shown and not names:
            say(options, f"{about(at)} has nothing set; what holds for it: --all")
        known = {config.name for config in configs}
        for name in names:
            if name not in known:
                hint = await nearest(cluster, at, name) or "; all of them: --all"
                document.fail(KcliError(f"{about(at)} has no config {name}{hint}"), name)

    return answer(options, SHAPE, work)


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
