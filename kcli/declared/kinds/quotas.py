"""Declared quotas, by entity; the controller checks them before."""

from __future__ import annotations

from typing import Any

from kcli.admin.quotas.quotas import DEFAULT, Entity, alter_quotas, describe_quotas, text_of
from kcli.declared.model import ADD, CHANGE, REMOVE, Declared, Item, Settings, Step
from kcli.declared.secrets import Secrets
from kcli.model import Cluster

SET = 20


async def plan(cluster: Cluster, declared: Declared, *, prune: bool, secrets: bool) -> list[Step]:
    """What differs."""
    quotas = await describe_quotas(cluster)
    wanted = dict(declared.quotas)
    if prune and declared.scope.get("quotas"):
        for at in quotas:
            if declared.selected("quotas", str(at)):
                wanted.setdefault(at, Settings())
    steps = []
    for at, settings in wanted.items():
        pruned = prune and declared.selected("quotas", str(at))
        step = _compared(at, settings, quotas.get(at, {}), pruned)
        if step.items:
            steps.append(step)
    return steps


def _compared(at: Entity, wanted: Settings, have: dict[str, float], prune: bool) -> Step:
    step = Step(kind="quota", name=str(at), place=wanted.place, order=SET)
    change: dict[str, float | None] = {}
    before: dict[str, Any] = {}
    inherit = []
    for key, setting in wanted.values.items():
        value, old = float(str(setting.value)), have.get(key)
        if value == old:
            continue
        was = None if old is None else text_of(key, old)
        step.items.append(Item(sign=ADD if old is None else CHANGE, what=key, old=was, new=text_of(key, value)))
        change[key] = value
        if old is None:
            inherit.append(key)
        else:
            before[key] = old
    surplus = [key for key in wanted.inherit if key in have]
    surplus += [key for key in have if prune and key not in wanted.values and key not in surplus]
    for key in surplus:
        step.items.append(Item(sign=REMOVE, what=key, old=text_of(key, have[key])))
        change[key], before[key] = None, have[key]
    signs = {item.sign for item in step.items}
    step.sign = signs.pop() if len(signs) == 1 and (have or signs == {ADD}) else CHANGE
    step.do = (at, change)
    step.undo = {"quotas": [entry(at, before) | ({"inherit": inherit} if inherit else {})]}
    return step


def entry(at: Entity, values: dict[str, Any]) -> dict[str, Any]:
    """Quotas as a file has them."""
    names = {kind: DEFAULT if name is None else name for kind, name in at.parts}
    return {**names, **{key: number(value) for key, value in values.items()}}


def number(value: float) -> float | int:
    """Without a needless fraction."""
    return int(value) if value == int(value) else value


async def carry_out(cluster: Cluster, steps: list[Step], secrets: Secrets, *, dry_run: bool) -> None:
    """Do it, or have the controller check it."""
    done = await alter_quotas(cluster, dict(step.do for step in steps), dry_run=dry_run)
    for step in steps:
        step.problem = done[step.do[0]]
        step.done = step.problem is None and not dry_run
