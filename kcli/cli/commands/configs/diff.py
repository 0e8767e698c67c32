"""`kcli configs diff`."""

from __future__ import annotations

from kcli.admin.configs import Config, Resource, about, describe_configs, own
from kcli.asking.fan_out import bad, good
from kcli.cli.commands.configs.named import named, resource_of
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.errors import UsageError
from kcli.model import Cluster

Pairs = dict[str, tuple[str | None, str | None]]
DIFFERS = 3  # the exit code


class DifferenceRow(Row, section="configs"):
    config: str = column("Name of the config.", rank=1)
    value: str | None = column("Its value.", rank=1)
    other: str | None = column("The inherited value, or the other resource's value.", rank=1)


SHAPE = shape("configs.diff", "Configs that differ, one a row.", DifferenceRow, empty="no differences")


@command(
    "configs diff",
    help="Compare configs with the defaults or another resource.",
    words="KIND NAME [OTHER]",
    examples="""
kcli configs diff topic orders                # from the defaults
kcli configs diff topic orders orders-copy
kcli configs diff broker 1 2""",
)
def diff(options: ReadOptions) -> int:
    """Print the configs that differ from the defaults, or between two resources of a kind. Exit code 3 if any differ.

    A KIND is topic, broker, logger, group or client-metrics; `broker default` means all brokers.
    """
    at, others = named(options.words, 2)
    if len(others) > 1:
        raise UsageError("compare one with another: kcli configs diff KIND NAME [OTHER]")
    other = resource_of(at.kind, others[0]) if others else None

    async def work(cluster: Cluster, document: Document) -> int | None:
        answers = await describe_configs(cluster, [at, *([other] if other else [])])
        for resource, error in bad(answers).items():
            document.fail(error, about(resource))
        if document.errors:
            return None
        configs = good(answers)
        pairs = _from_defaults(at, configs[at]) if other is None else _between(configs[at], configs[other])
        rows = document.of(DifferenceRow)
        rows += [DifferenceRow(config=name, value=a, other=b) for name, (a, b) in pairs.items() if a != b]
        return DIFFERS if rows else None

    return answer(options, SHAPE, work)


def _from_defaults(at: Resource, configs: list[Config]) -> Pairs:
    return {name: (config.value, config.inherited) for name, config in _readable(configs).items() if own(at, config)}


def _between(configs: list[Config], others: list[Config]) -> Pairs:
    mine, theirs = _readable(configs), _readable(others)
    both = {name: (mine.get(name), theirs.get(name)) for name in sorted(mine.keys() | theirs.keys())}
    return {name: (a.value if a else None, b.value if b else None) for name, (a, b) in both.items()}


def _readable(configs: list[Config]) -> dict[str, Config]:
    """By name, without secrets."""
    return {config.name: config for config in configs if not config.secret}
