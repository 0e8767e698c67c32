"""Declared configs compared with those in force: of topics, brokers, groups and client metrics.

A declared value that is already in force is not a difference, whoever set it: a default with that value needs no
override.
"""

from __future__ import annotations

from kcli.admin.configs import (
    DELETE,
    Operation,
    Resource,
    about,
    alter_configs,
    describe_configs,
    own,
)
from kcli.changes.configs import SURE
from kcli.changes.declared.step import ADD, CHANGE, REMOVE, Stage, Step
from kcli.declared.entries import PASSING, named, standing
from kcli.declared.model import Settings
from kcli.declared.reading import same
from kcli.declared.secrets import HIDDEN
from kcli.errors import BrokerError, KcliError
from kcli.text.suggest import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from kcli.admin.configs import Config
    from kcli.changes.declared.plan import ClusterPlan
    from kcli.declared.model import Setting
    from kcli.declared.secrets import Secrets
    from kcli.model import Cluster

    Known = dict[Resource, dict[str, Config] | KcliError]


async def compare(plan: ClusterPlan) -> list[Step]:
    """Return the steps for configs. With pruning, this includes overrides within the scope that are not declared."""
    wanted = dict(plan.declared.configs)
    for at in (await standing(plan.cluster))[0] if plan.whole("configs") else ():
        if plan.prunes("configs", named(at)):
            wanted.setdefault(at, Settings())
    known = await read(plan.cluster, wanted, whole=plan.prune)
    found: list[Step] = []
    for at, one in wanted.items():
        found += steps(plan, at, one, known[at], prune=plan.prunes("configs", named(at)))
    return found


async def read(cluster: Cluster, wanted: Mapping[Resource, Settings], *, whole: bool) -> Known:
    """Read the configs by name: of each resource the declared ones, or all with `whole`. One request for all topics,
    and one for each broker."""
    names = sorted({name for settings in wanted.values() for name in (*settings.values, *settings.inherit)})
    asked = [at for at, settings in wanted.items() if whole or settings.values or settings.inherit]
    configs = await describe_configs(cluster, asked, names=() if whole else names) if asked else {}
    known: Known = {at: {} for at in wanted} | {at: _by_name(rows) for at, rows in configs.items()}
    await _complete(cluster, wanted, known)
    return known


def _by_name(configs: list[Config] | KcliError) -> dict[str, Config] | KcliError:
    return configs if isinstance(configs, KcliError) else {config.name: config for config in configs}


async def _complete(cluster: Cluster, wanted: Mapping[Resource, Settings], known: Known) -> None:
    """Handle declared names that are missing in a response. They are an error, unless the resource has no configs at
    all (no override), or is the default of all brokers, which lists only overrides: then the brokers report the
    effective value."""
    lacking = {
        at: [name for name in settings.values if name not in configs]
        for at, settings in wanted.items()
        if isinstance(configs := known[at], dict)
    }
    lacking = {at: names for at, names in lacking.items() if names}
    everything = Resource("broker", "")
    if everything in lacking and isinstance(mine := known[everything], dict):
        known[everything] = {**await _defaults(cluster, lacking.pop(everything)), **mine}
    for at, told in (await describe_configs(cluster, lacking) if lacking else {}).items():
        names = set() if isinstance(told, KcliError) else {config.name for config in told}
        for name in lacking[at] if names else ():
            if name in names or (
                # configs of a listener or a plugin: brokers report those only if they are set
                at.kind == "broker" and (name.startswith("listener.name.") or not did_you_mean(name, names, SURE))
            ):
                continue
            why = f"{about(at)} has no config {name}{did_you_mean(name, names)}"
            known[at] = KcliError(f"{wanted[at].values[name].place}: {why}")
            break


async def _defaults(cluster: Cluster, names: list[str]) -> dict[str, Config]:
    """Return the value without override on every broker, where all agree."""
    brokers = [Resource("broker", str(node.id)) for node in await cluster.nodes()]
    answers = (await describe_configs(cluster, brokers, names=names)).values()
    told = [{config.name: config for config in configs} for configs in answers if isinstance(configs, list)]
    if len(told) < len(brokers):
        return {}
    return {
        name: config
        for name, config in told[0].items()
        if all(name in other and other[name].value == config.value and not other[name].secret for other in told)
    }


def steps(
    plan: ClusterPlan, at: Resource, wanted: Settings, known: Mapping[str, Config] | KcliError, *, prune: bool
) -> list[Step]:
    """Return the step that corrects the configs of a resource, if needed. `prune`: remove overrides that are not
    declared. Secrets cannot be compared: they are only set again if the plan says so."""
    name = at.name or "default"
    step = Step(stage=SET, kind=at.kind, name=name, place=wanted.place, key=at)
    if isinstance(known, KcliError):
        for key, setting in wanted.values.items():
            step.part(key, new=setting.value if isinstance(setting.value, str) else HIDDEN)
        return [step.fail(known, refused=not isinstance(known, BrokerError))]
    operations: dict[str, Setting | None] = {}
    for key, setting in wanted.values.items():
        was = known.get(key)
        mine = was is not None and own(at, was)
        old, new = None if was is None else was.value, setting.value
        if not isinstance(new, str) or (was is not None and was.secret):
            if mine and not plan.resend:
                continue
            old, new = HIDDEN if mine else None, HIDDEN
        elif was is not None and same(key, was.kind, new, old):
            continue
        step.part(key, old, new, ADD if old is None else CHANGE)
        operations[key] = setting
    surplus = [key for key in wanted.inherit if key in known]
    surplus += [key for key in known if prune and key not in (*wanted.values, *surplus) and not kept(at, key)]
    for key in surplus:
        was = known[key]
        if own(at, was):
            step.part(key, HIDDEN if was.secret else was.value, was.inherited, REMOVE)
            operations[key] = None
    step.value = operations
    was_own = {key: known[key] for key in operations if key in known and own(at, known[key])}
    values = {key: was.value for key, was in was_own.items() if not was.secret}  # secrets cannot be restored
    inherit = [key for key in operations if key not in was_own]
    before: dict[str, Any] = {"configs": values} if at.kind == "topic" else dict(values)
    before |= {"inherit": inherit} if inherit else {}
    step.undo = {"topics": {name: before}} if at.kind == "topic" else {"configs": {at.kind: {name: before}}}
    return [step] if step.rows else []


def kept(at: Resource, name: str) -> bool:
    """Whether this must never be pruned. Kafka itself sets min.insync.replicas of all brokers while KIP-966 is
    enabled."""
    return bool(PASSING.fullmatch(name)) or (at == ("broker", "") and name == "min.insync.replicas")


def _operations(step: Step, secrets: Secrets) -> list[Operation]:
    return [
        Operation(name=name, how=DELETE) if setting is None else Operation(name=name, value=secrets.text(setting))
        for name, setting in step.value.items()
    ]


SET = Stage(
    order=12,
    send=lambda plan, changes, dry_run: alter_configs(plan.cluster, changes, dry_run=dry_run),
    made=_operations,
)
