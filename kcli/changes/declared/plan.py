"""Compares a cluster with files and applies the steps between them, validated by the brokers and made stage by stage.

Users come first, because ACLs and quotas refer to them; topics come before their ACLs; deletions have the opposite
order.
"""

from __future__ import annotations

import asyncio
from itertools import groupby

from kcli.asking.fan_out import pauses
from kcli.backoff import repeat
from kcli.changes.change import Plan, Undo
from kcli.changes.declared import access, configs, schemas, topics
from kcli.changes.declared.step import REMOVE, Step
from kcli.declared.model import Declared
from kcli.declared.schema import ID
from kcli.declared.secrets import Secrets
from kcli.errors import OPTION, ConnectError, KcliError, UsageError
from kcli.model import Cluster
from kcli.text.numbers import counted
from kcli.values import field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.registry.client import RegistryClient

    Look = Callable[["ClusterPlan"], Awaitable[list[Step]]]

PATIENCE = 30.0
"""Seconds until brokers have learned of the controller's changes."""
SECTIONS: dict[str, Look] = {
    "users": access.users,
    "topics": topics.compare,
    "configs": configs.compare,
    "quotas": access.quotas,
    "acls": access.acls,
    "schemas": schemas.compare,
}
"""Function that finds the steps of each section."""


class ClusterPlan(Plan):
    """The steps that make the cluster match the declaration.

    `prune`: delete what is declared absent, or in scope and undeclared. `resend`: set secrets again. `registry` is for
    declared schemas. `kept` counts things declared absent that are kept without pruning. Each step succeeds or fails
    individually.
    """

    cluster: Cluster = field()
    declared: Declared = field()
    prune: bool = False
    resend: bool = False
    registry: RegistryClient | None = None
    secrets: Secrets = field(factory=Secrets)
    steps: list[Step] = field(factory=list)
    kept: int = 0
    late: str = ""
    """What some brokers do not report yet after the change."""

    def whole(self, section: str) -> bool:
        """Whether everything of a section is read, because undeclared things are deleted."""
        return self.prune and bool(self.declared.scope.get(section))

    def prunes(self, section: str, name: str) -> bool:
        """Whether this is deleted if it is not declared."""
        return self.prune and self.declared.selected(section, name)

    async def compare(self) -> None:
        """Compare with the cluster. Raises UsageError if files lack something, KcliError if the cluster cannot be
        reached. Sections that cannot be read are in `failed`."""
        of = self.declared
        absent = (of.absent_topics, of.absent_users, of.absent_acls, of.absent_schemas)
        if self.prune and not any(of.scope.values()) and not any(absent):
            why = "prune removes only resources within a scope, and no file has a scope"
            raise UsageError(f"{why}; for example `scope: {{topics: [orders-*]}}`").hinted(OPTION)
        if self.registry is None and (of.schemas or of.absent_schemas or self.whole("schemas")):
            missing = UsageError("schemas are declared, but no registry is set (schema.registry.url)")
            raise missing.hinted("schema-registry")
        every: list[Step] = []
        concerned = {
            name: compare
            for name, compare in SECTIONS.items()
            if getattr(of, name) or getattr(of, f"absent_{name}", None) or self.whole(name)
        }
        answers = await asyncio.gather(*(compare(self) for compare in concerned.values()), return_exceptions=True)
        for name, answer in zip(concerned, answers, strict=True):
            if isinstance(answer, KcliError) and not isinstance(answer, ConnectError):
                self.failed[name] = answer
            elif isinstance(answer, BaseException):
                raise answer
            else:
                every += answer
        steps = [step for step in every if self.prune or not step.stage.removes]
        self.steps, self.kept = sorted(steps, key=lambda step: step.stage.order), len(every) - len(steps)
        self.rows = [row for step in self.steps for row in step.rows]

    async def prepare(self, *, keep_going: bool, wait: bool) -> None:
        """Compare, and have the brokers validate the plan. Nothing is applied if a step is impossible, except with
        `keep_going`. `apply` can `wait` until every broker reports the change."""
        await self.compare()
        await self.send(dry_run=True)
        ready = self.ready

        async def apply(target: Cluster | tuple[Cluster, RegistryClient | None]) -> None:
            # after a confirmation they are different ones, without the guard of the profile
            self.cluster, self.registry = target if isinstance(target, tuple) else (target, self.registry)
            await self.send()
            if wait and any(step.done for step in self.steps):
                await self.settled()

        if ready and (keep_going or not (self.failed or any(row.error for row in self.rows))):
            self.apply = apply
        gone, grown = (sum(step.stage == stage for step in ready) for stage in (topics.DELETE, topics.GROW))
        if gone:
            self.warnings.append(f"undo cannot restore the records of {counted(gone, 'topic')}")
        if grown:
            kept = "will keep the new partitions: their number cannot be reduced"
            self.warnings.append(f"{counted(grown, 'topic')} {kept}")
        self.adds = all(step.stage == topics.CREATE for step in ready)
        self.final = grown > 0 or any(step.sign == REMOVE for step in ready)
        back: dict[str, object] = {}
        for step in ready:
            _merge(back, step.undo)
        where = ""
        if self.registry is not None and all(step.kind == "schema" for step in ready):  # then no broker is asked
            where = self.registry.settings.name
        self.undo = Undo(document={"schema": ID, **back} if back else {}, file="apply", where=where)

    @property
    def ready(self) -> list[Step]:
        """The steps that can be made."""
        return [step for step in self.steps if step.is_open]

    async def send(self, *, dry_run: bool = False) -> None:
        """Make the steps, or have the brokers validate what they can. Secrets are resolved before anything is
        changed."""
        for stage, group in groupby(self.ready, key=lambda step: step.stage):
            changes, steps = {}, {step.key: step for step in group}
            for key, step in steps.items():
                try:
                    changes[key] = stage.made(step, self.secrets)
                except KcliError as error:
                    step.fail(error, refused=True)
            try:
                outcomes = await stage.send(self, changes, dry_run) if changes and (stage.checks or not dry_run) else {}
            except KcliError as error:
                outcomes = dict.fromkeys(changes, error)
            for key, outcome in outcomes.items():
                if isinstance(outcome, KcliError) or not dry_run:
                    steps[key].settle(outcome)

    async def settled(self, patience: float = PATIENCE) -> None:
        """Wait until the brokers report the change, which they learn of a moment after the controller. `late` has what
        they still report differently after `patience` seconds, or why they cannot be asked."""
        done = {(row.kind, row.name, row.item) for step in self.steps if step.done for row in step.rows}
        left: set[tuple[str, str, str]] = set()

        async def arrived() -> bool:
            nonlocal left
            again = ClusterPlan(cluster=self.cluster, declared=self.declared, prune=self.prune, registry=self.registry)
            await again.compare()
            left = {(row.kind, row.name, row.item) for step in again.steps for row in step.rows} & done
            return not left

        try:
            await repeat(arrived, pauses(), asyncio.get_running_loop().time() + patience)
        except KcliError as error:
            self.late = f"it could not be read back: {error}"
            return
        if left:
            (first, *more) = sorted(f"{name} {what}" for _, name, what in left)
            others = f" and {len(more)} more" if more else ""
            self.late = f"some brokers have not received the change yet: {first}{others}"


def _merge(into: dict[str, object], more: dict[str, object]) -> None:
    for key, value in more.items():
        there = into.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            _merge(there, value)
        elif isinstance(there, list) and isinstance(value, list):
            there.extend(value)
        else:
            into[key] = dict(value) if isinstance(value, dict) else list(value) if isinstance(value, list) else value
