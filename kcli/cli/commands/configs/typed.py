"""`KEY=VALUE` as people type it: values with units, and the name that was probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import Resource, about, describe_configs
from kcli.declared.units import plain
from kcli.errors import KcliError, UsageError
from kcli.text.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kcli.admin.configs.resources import Config, Operation
    from kcli.model import Cluster

SURE = 0.85
"""How near a name has to be that the broker would take, since a plugin may have any."""


def pair(text: str, flag: str = "") -> tuple[str, str]:
    """Name and value, the value as Kafka wants it: `retention.ms=7d` is 604800000. Raises UsageError."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise UsageError(f"{flag + ' ' if flag else ''}{text}: expected KEY=VALUE, such as retention.ms=7d")
    return name, plain(name, value)


async def mistyped(
    cluster: Cluster,
    changes: Mapping[Resource, Iterable[Operation]],
    known: Mapping[Resource, list[Config] | KcliError],
    checked: Mapping[Resource, KcliError | None],
) -> dict[Resource, KcliError | None]:
    """What the broker said to the changes, with the nearest name where it refused one that it does not know; and an
    error of ours where it took one that is nearly another, as brokers do with their own configs."""
    answers = dict(checked)
    for at, operations in changes.items():
        configs = known[at]
        if isinstance(configs, KcliError):
            continue
        names = {config.name for config in configs}
        unknown = [operation.name for operation in operations if operation.name not in names]
        if unknown and at == ("broker", ""):  # which tells only what was set
            names |= await _names(cluster, [Resource("broker", str(node.id)) for node in await cluster.nodes()][:1])
        refused = answers[at]
        for name in unknown:
            if name in names or name.startswith("listener.name."):
                continue
            hint = did_you_mean(name, names, SURE)
            if refused is not None:
                answers[at] = hinted(refused, hint or did_you_mean(name, names))
            elif hint and at.kind != "logger":
                answers[at] = KcliError(f"{about(at)} has no config {name}{hint}")
    return answers


async def nearest(cluster: Cluster, at: Resource, name: str) -> str:
    """ "; did you mean …?" for a config that a resource does not have, "" where it has it or that is unknown."""
    names = await _names(cluster, [at])
    return "" if name in names else did_you_mean(name, names, SURE) or did_you_mean(name, names)


def hinted(problem: KcliError, hint: str) -> KcliError:
    """The same problem with a hint behind its sentence."""
    problem.args = (f"{problem}{hint}",)
    return problem


async def _names(cluster: Cluster, resources: list[Resource]) -> set[str]:
    answers = (await describe_configs(cluster, resources)).values()
    return {config.name for configs in answers if isinstance(configs, list) for config in configs}
