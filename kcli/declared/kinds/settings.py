"""Configs that are declared beside those that hold: what differs, and the change.

A declared value that holds already is no difference, whoever set it: a default that equals it needs no setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kcli.admin.configs.resources import (
    DELETE,
    SET,
    Config,
    Operation,
    Resource,
    about,
    alter_configs,
    describe_configs,
    own,
)
from kcli.declared.model import ADD, CHANGE, REMOVE, Item, Setting, Settings, Step
from kcli.declared.secrets import HIDDEN, Secrets
from kcli.declared.units import same
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster
from kcli.values import Value, field

CONFIGS = 12  # when these steps are done: see topics.py
PASSING = re.compile(r"(leader|follower)\.replication\.throttled\.(rate|replicas)|replica\.alter\.log\.dirs\.io\..*")
"""Configs that a reassignment sets while it lasts: no file declares them, so they are neither exported nor pruned."""


class Changes(Value):
    """What differs of one resource: the lines of a plan, what to set (None: back to what is inherited), and the
    settings as they were, as a file declares them."""

    items: list[Item] = field(factory=list)
    operations: dict[str, Setting | None] = field(factory=dict)
    before: dict[str, Any] = field(factory=dict)
    inherit: list[str] = field(factory=list)


async def look(
    cluster: Cluster, wanted: Mapping[Resource, Settings], *, whole: bool
) -> dict[Resource, dict[str, Config] | KcliError]:
    """The configs by name, of each resource the declared ones, or all with `whole`. A request for all topics, and one
    for each broker."""
    names = sorted({name for settings in wanted.values() for name in (*settings.values, *settings.inherit)})
    asked = [at for at, settings in wanted.items() if whole or settings.values or settings.inherit]
    configs = await describe_configs(cluster, asked, names=() if whole else names) if asked else {}
    known: dict[Resource, dict[str, Config] | KcliError] = {at: {} for at in wanted}
    for at, rows in configs.items():
        known[at] = rows if isinstance(rows, KcliError) else {config.name: config for config in rows}
    await _complete(cluster, wanted, known)
    return known


async def _complete(
    cluster: Cluster, wanted: Mapping[Resource, Settings], known: dict[Resource, dict[str, Config] | KcliError]
) -> None:
    """A declared name that an answer does not have is an error, unless the resource has none at all (no override)
    or is the default of all brokers, which lists overrides only: there the brokers tell the effective value."""
    lacking = {
        at: [name for name in settings.values if name not in configs]
        for at, settings in wanted.items()
        if isinstance(configs := known[at], dict)
    }
    lacking = {at: names for at, names in lacking.items() if names}
    if not lacking:
        return
    everything = Resource("broker", "")
    if everything in lacking:
        defaults = await _defaults(cluster, lacking.pop(everything))
        known[everything] = {**defaults, **_dict(known[everything])}
    for at, told in (await describe_configs(cluster, lacking) if lacking else {}).items():
        if isinstance(told, KcliError) or not told:
            continue
        from kcli.text.suggest import did_you_mean

        names = {config.name for config in told}
        for name in (one for one in lacking[at] if one not in names):
            if at.kind == "broker" and (name.startswith("listener.name.") or not did_you_mean(name, names, 0.85)):
                continue  # a listener's own, or a plugin's: brokers tell those only when they are set
            why = f"{about(at)} has no config {name}{did_you_mean(name, names)}"
            known[at] = KcliError(f"{wanted[at].values[name].place}: {why}")
            break


async def _defaults(cluster: Cluster, names: list[str]) -> dict[str, Config]:
    """The value on every broker alike where it has no override."""
    brokers = [Resource("broker", str(node.id)) for node in await cluster.nodes()]
    answers = (await describe_configs(cluster, brokers, names=names)).values()
    told = [{config.name: config for config in configs} for configs in answers if isinstance(configs, list)]
    if len(told) < len(brokers):
        return {}
    first = told[0]
    return {
        name: config
        for name, config in first.items()
        if all(name in other and other[name].value == config.value and not other[name].secret for other in told)
    }


def _dict(configs: dict[str, Config] | KcliError) -> dict[str, Config]:
    return {} if isinstance(configs, KcliError) else configs


def compare(at: Resource, wanted: Settings, known: Mapping[str, Config], *, prune: bool, secrets: bool) -> Changes:
    """What differs. `prune`: what is set here and not declared goes; `secrets`: they are set again, since they cannot
    be compared."""
    changes = Changes()
    for name, setting in wanted.values.items():
        was = known.get(name)
        mine = was is not None and own(at, was)
        hidden = not isinstance(setting.value, str) or (was is not None and was.secret)
        if hidden:
            if mine and not secrets:
                continue
            changes.items.append(
                Item(sign=CHANGE if mine else ADD, what=name, old=HIDDEN if mine else None, new=HIDDEN)
            )
        else:
            value = setting.value if isinstance(setting.value, str) else ""
            if was is not None and same(name, was.kind, value, was.value):
                continue
            old = was.value if was is not None else None
            changes.items.append(Item(sign=CHANGE if old is not None else ADD, what=name, old=old, new=value))
        changes.operations[name] = setting
        _remember(changes, name, was if mine else None)
    surplus = [name for name in wanted.inherit if name in known]
    if prune:
        surplus += [name for name in known if name not in (*wanted.values, *surplus) and not kept(at, name)]
    for name in surplus:
        was = known[name]
        if own(at, was):
            old = HIDDEN if was.secret else was.value
            changes.items.append(Item(sign=REMOVE, what=name, old=old, new=was.inherited))
            changes.operations[name] = None
            _remember(changes, name, was)
    return changes


def kept(at: Resource, name: str) -> bool:
    """Whether this must never be pruned. Kafka itself sets min.insync.replicas of all brokers while KIP-966 is on."""
    return bool(PASSING.fullmatch(name)) or (at == ("broker", "") and name == "min.insync.replicas")


def _remember(changes: Changes, name: str, was: Config | None) -> None:
    if was is None:
        changes.inherit.append(name)
    elif not was.secret:
        changes.before[name] = was.value


def configured(
    at: Resource, wanted: Settings, known: dict[str, Config] | KcliError, *, prune: bool, secrets: bool
) -> Iterator[Step]:
    """The step that sets the configs of a resource right, if there is anything to set."""
    step = Step(kind=at.kind, name=at.name or "default", order=CONFIGS, place=wanted.place)
    if isinstance(known, KcliError):
        step.problem, step.refused = known, not isinstance(known, BrokerError)
        values = {
            name: value.value if isinstance(value.value, str) else HIDDEN for name, value in wanted.values.items()
        }
        step.items = [Item(what=name, new=value) for name, value in values.items()]
        yield step
        return
    changes = compare(at, wanted, known, prune=prune, secrets=secrets)
    if changes.items:
        step.items, step.do = changes.items, (at, changes.operations)
        before: dict[str, object] = {"configs": changes.before} if at.kind == "topic" else dict(changes.before)
        if changes.inherit:
            before["inherit"] = changes.inherit
        name = at.name or "default"
        step.undo = {"topics": {name: before}} if at.kind == "topic" else {"configs": {at.kind: {name: before}}}
        yield step


async def alter(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Make, or have the brokers check, the changes of steps whose `do` is (Resource, operations)."""
    changes: dict[Resource, list[Operation]] = {}
    for step in steps:
        at, operations = step.do
        try:
            changes[at] = [
                Operation(name=name, how=DELETE)
                if setting is None
                else Operation(name=name, how=SET, value=secrets.text(setting))
                for name, setting in operations.items()
            ]
        except KcliError as error:
            step.problem, step.refused = error, True
    done = await alter_configs(cluster, changes, dry_run=dry_run) if changes else {}
    for step in steps:
        if step.problem is None:
            step.problem = done[step.do[0]]
            step.done = step.problem is None and not dry_run
