"""Declared configs of brokers, groups and client metrics."""

from __future__ import annotations

from kcli.admin.configs.resources import Resource, describe_configs, list_resources, own
from kcli.declared.kinds import settings
from kcli.declared.model import Declared, Settings, Step
from kcli.declared.secrets import Secrets
from kcli.errors import KcliError, UnsupportedVersion
from kcli.model import Cluster

KINDS = ("broker", "group", "client-metrics")


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs. With `prune`, also what is set within the scope and declared nowhere."""
    wanted = dict(declared.configs)
    if prune and declared.scope.get("configs"):
        for at in (await standing(cluster))[0]:
            if declared.selected("configs", named(at)):
                wanted.setdefault(at, Settings())
    known = await settings.look(cluster, wanted, whole=prune)
    steps: list[Step] = []
    for at, one in wanted.items():
        pruned = prune and declared.selected("configs", named(at))
        steps += settings.configured(at, one, known[at], prune=pruned, secrets=secrets)
    return steps


async def standing(cluster: Cluster) -> tuple[list[Resource], dict[str, UnsupportedVersion]]:
    """All that may have configs of its own, and the kinds that these brokers do not list: groups before Kafka 4.1."""
    resources = [Resource("broker", ""), *(Resource("broker", str(node.id)) for node in await cluster.nodes())]
    unlisted = {}
    for kind in KINDS[1:]:
        try:
            resources += [Resource(kind, name) for name in await list_resources(cluster, kind)]
        except UnsupportedVersion as error:
            unlisted[kind] = error
    return resources, unlisted


def named(at: Resource) -> str:
    """As a scope has it: `broker/default`, `group/billing`."""
    return f"{at.kind}/{at.name or 'default'}"


async def carry_out(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Do it, or have the brokers check it."""
    await settings.alter(cluster, steps, secrets, dry_run=dry_run)


async def own_configs(
    cluster: Cluster, resources: list[Resource]
) -> tuple[dict[Resource, dict[str, str]], dict[Resource, list[str]], dict[Resource, KcliError]]:
    """What is set on each resource itself, the names of its secrets, and what could not be read."""
    values: dict[Resource, dict[str, str]] = {}
    hidden: dict[Resource, list[str]] = {}
    failed: dict[Resource, KcliError] = {}
    for at, configs in (await describe_configs(cluster, resources)).items():
        if isinstance(configs, KcliError):
            failed[at] = configs
            continue
        mine = [config for config in configs if own(at, config) and not settings.PASSING.fullmatch(config.name)]
        values[at] = {config.name: config.value or "" for config in mine if not config.secret}
        if any(config.secret for config in mine):
            hidden[at] = [config.name for config in mine if config.secret]
    return values, hidden, failed
