"""The whole plan: what differs by kind, checked by the brokers, done in order.

Users come first, since ACLs and quotas name them; topics before their ACLs; what goes, goes in the opposite order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import groupby
from types import ModuleType

from kcli.asking.fan_out import pauses
from kcli.backoff import repeat
from kcli.declared.kinds import acls, configs, quotas, schemas, topics, users
from kcli.declared.model import Declared, Step
from kcli.declared.secrets import Secrets
from kcli.errors import OPTION, ConnectError, KcliError, UsageError
from kcli.model import Cluster
from kcli.registry.client import RegistryClient

PATIENCE = 30.0
"""Seconds until brokers have learned what a controller has done."""
KINDS: dict[str, ModuleType] = {"users": users, "topics": topics, "configs": configs, "quotas": quotas, "acls": acls}
OF = {"user": users, "topic": topics, "quota": quotas, "acl": acls, "schema": schemas}


class Plan:
    """What has to be done for the cluster to be as it is declared."""

    def __init__(
        self,
        cluster: Cluster,
        declared: Declared,
        *,
        prune: bool = False,
        secrets: bool = False,
        registry: RegistryClient | None = None,
    ) -> None:
        """`prune`: what is absent or in scope and undeclared goes; `secrets`: they are set again; `registry` is where
        declared schemas go."""
        if prune and not any(declared.scope.values()) and not _absent(declared):
            raise UsageError(
                "prune removes only what is within a scope, and no file has one; for example "
                "`scope: {topics: [orders-*]}`"
            ).hinted(OPTION)
        if registry is None and _schemas_of(declared, prune=prune):
            raise UsageError(schemas.NO_REGISTRY).hinted("schema-registry")
        self._cluster = cluster
        self._declared = declared
        self._prune = prune
        self._again = secrets
        self._registry = registry
        self.secrets = Secrets()
        self.steps: list[Step] = []
        self.failed: dict[str, KcliError] = {}
        """What could not be looked at, by section."""
        self.kept = 0
        """The number of things declared absent that stay, since nothing is pruned."""

    async def look(self) -> None:
        """Compare with the cluster. Raises KcliError where it cannot be reached; what else fails is in `failed`."""
        asked = [name for name in (*KINDS, "schemas") if self._concerned(name)]
        answers = await asyncio.gather(*(self._look(name) for name in asked))
        every = [step for steps in answers for step in steps]
        if not self._prune:
            left = [step for step in every if step.order in (topics.DELETE, users.DELETE, acls.DELETE, schemas.DELETE)]
            self.kept = len(left)
            every = [step for step in every if step not in left]
        self.steps = sorted(every, key=lambda step: step.order)

    async def _look(self, name: str) -> list[Step]:
        try:
            if name == "schemas":
                return await schemas.plan(self._registry, self._declared, prune=self._prune)
            plan: Callable[..., object] = KINDS[name].plan
            steps: list[Step] = await plan(self._cluster, self._declared, prune=self._prune, secrets=self._again)  # type: ignore[misc]
        except KcliError as error:
            if isinstance(error, ConnectError):
                raise
            self.failed[name] = error
            return []
        return steps

    def _concerned(self, name: str) -> bool:
        """Is there anything to look at?"""
        declared = self._declared
        absent = getattr(declared, f"absent_{name}", None)
        return bool(getattr(declared, name) or absent or (self._prune and declared.scope.get(name)))

    @property
    def ready(self) -> list[Step]:
        """What can be done."""
        return [step for step in self.steps if step.problem is None]

    async def check(self) -> None:
        """Have the brokers check what they can, and look secrets up, before anything is changed."""
        await self._each(dry_run=True)

    async def carry_out(self) -> None:
        """Do it; each step succeeds or fails by itself."""
        await self._each(dry_run=False)

    async def settle(self, patience: float = PATIENCE) -> set[str]:
        """Wait until the brokers report the change: they learn of it a moment after the controller. Returns the names
        of what they still report otherwise after `patience` seconds. Raises KcliError where no broker can be asked."""
        done = {(step.kind, step.name, item.what) for step in self.steps if step.done for item in step.items}
        left: set[tuple[str, str, str]] = set()

        async def look() -> bool:
            nonlocal left
            again = Plan(self._cluster, self._declared, prune=self._prune, registry=self._registry)
            await again.look()
            left = {(step.kind, step.name, item.what) for step in again.steps for item in step.items} & done
            return not left

        await repeat(look, pauses(), asyncio.get_running_loop().time() + patience)
        return {f"{name} {what}" for _, name, what in left}

    async def _each(self, *, dry_run: bool) -> None:
        for (_, kind), group in groupby(self.ready, key=lambda step: (step.order, _kind(step))):
            steps = list(group)
            try:
                if kind is schemas:
                    await schemas.carry_out(self._registry, steps, dry_run=dry_run)
                else:
                    await kind.carry_out(self._cluster, steps, self.secrets, dry_run=dry_run)
            except KcliError as error:
                for step in steps:
                    if not step.done:
                        step.problem = step.problem or error

    def undo(self) -> dict[str, object]:
        """The file that takes it back: what is there now of what is ready to change."""
        found: dict[str, object] = {}
        for step in self.ready:
            _merge(found, step.undo)
        return found


def _kind(step: Step) -> ModuleType:
    return OF.get(step.kind, configs)


def _absent(declared: Declared) -> bool:
    return bool(declared.absent_topics or declared.absent_users or declared.absent_acls or declared.absent_schemas)


def _schemas_of(declared: Declared, *, prune: bool) -> bool:
    """Whether there is anything to ask a registry."""
    return bool(declared.schemas or declared.absent_schemas or (prune and declared.scope.get("schemas")))


def _merge(into: dict[str, object], more: dict[str, object]) -> None:
    for key, value in more.items():
        there = into.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            _merge(there, value)
        elif isinstance(there, list) and isinstance(value, list):
            there.extend(value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else value
