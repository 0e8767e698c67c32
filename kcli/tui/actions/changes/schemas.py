"""Changes of the schema registry: the compatibility level of a subject, and the deletion of a subject or a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.asking.ask import unknown
from kcli.changes.change import Undo
from kcli.errors import ConnectError, KcliError, UsageError
from kcli.registry.errors import RegistryError, Unavailable
from kcli.registry.moving.document import undo_of
from kcli.registry.moving.snapshot import Snapshot, in_order, own_level
from kcli.serde.avro.compatibility import LEVELS
from kcli.tui.actions.changes.change import Ask, Change, Plan, Step
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.registry.client import RegistryClient
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.schemas import Schema
    from kcli.tui.actions.changes.change import Given


REFUSED = (429, 503)
"""Statuses of a registry that does not begin with what it is asked for."""


class SetLevel(Change):
    """The level that later versions of a subject must keep; an empty field lets it inherit the global one."""

    of_registry = True

    def __init__(self, subject: str, level: str = "", option: str = "") -> None:
        """`level` is in the field at first; `option` names the registry in commands."""
        self.subject = self.word = subject
        self.option = option
        self.title = f"Change the compatibility level of {printable(subject)}"
        self.asks = (Ask("level", "level", f"{', '.join(LEVELS)}; nothing: as all subjects", level),)

    def command(self, given: Given) -> str:
        wanted = given["level"].strip()
        how = f"--set {quoted(wanted)}" if wanted else "--delete"
        return f"kcli registry compat {quoted(self.subject)} {how} --execute{self.option}"

    async def plan(self, client: OpenRegistry, given: Given) -> Plan:
        _refuse_folder(client)
        registry, wanted = client.client, given["level"].strip().upper().replace("-", "_")
        if wanted and wanted not in LEVELS:
            raise UsageError(f"level: it is {', '.join(LEVELS)}, or nothing for that of all subjects")
        old = await own_level(registry, self.subject)
        now = old or f"{await registry.level()} (of all subjects)"
        then = wanted or f"{await registry.level()} (of all subjects)"
        if wanted == (old or ""):
            return Plan(steps=[Step(what=self.subject, old=now, new=then, result="unchanged")])
        step = Step(what=self.subject, old=now, new=then, result="would change")

        async def carry_out(client: OpenRegistry) -> str:
            try:
                if wanted:
                    await client.client.set_level(wanted, self.subject)
                else:
                    await client.client.delete_level(self.subject)
            except KcliError as problem:
                step.failed(_outcome(problem))
            else:
                step.result = "changed"
            return ""

        undo = Undo(document=undo_of(levels={self.subject: old}))
        return Plan(steps=[step], carry_out=carry_out, undo=undo)


class DeleteSubject(Change):
    """A subject, or one version of it. Ids keep reading records where the registry deletes softly; a version that other
    schemas refer to stays."""

    of_registry = True

    def __init__(self, subject: str, version: int | None = None, option: str = "") -> None:
        self.subject, self.version = subject, version
        self.option = option
        self._name = subject if version is None else f"{subject}@{version}"
        self.word = self._name
        what = "subject" if version is None else "version"
        self.title = f"Delete {what} {printable(self._name)}"

    def command(self, given: Given) -> str:
        return f"kcli registry delete {quoted(self._name)} --execute{self.option}"

    async def plan(self, client: OpenRegistry, given: Given) -> Plan:
        _refuse_folder(client)
        registry = client.client
        if not registry.deletes_softly:
            raise UsageError(f"{client.name} has no soft deletion; kcli registry delete --permanent deletes for good")
        versions = [self.version] if self.version is not None else await registry.versions(self.subject)
        schemas = [await registry.version(self.subject, version) for version in versions]
        steps = [await _step(registry, self.subject, schema) for schema in schemas]
        if any(step.bad for step in steps):
            return Plan(steps=steps)

        async def carry_out(client: OpenRegistry) -> str:
            try:
                if self.version is None:
                    await client.client.delete_subject(self.subject)
                else:
                    await client.client.delete_version(self.subject, self.version)
            except KcliError as problem:
                outcome = _outcome(problem)
                for step in steps:
                    step.failed(outcome)
                return ""
            for step in steps:
                step.result = "deleted"
            return ""

        undo = Undo(document=undo_of(register=Snapshot(schemas=tuple(in_order(schemas)))))
        return Plan(steps=steps, carry_out=carry_out, undo=undo)


def _refuse_folder(registry: OpenRegistry) -> None:
    """Raises UsageError for a folder in the place of a registry, before anything is planned."""
    if registry.folder:
        raise UsageError(f"{registry.name} is a folder, which kcli only reads")


def _outcome(problem: KcliError) -> KcliError:
    """What became of a change that ended so: it is unknown where it was sent and has no response."""
    refused = isinstance(problem, Unavailable) and problem.status in REFUSED
    if isinstance(problem, ConnectError) and problem.sent and not refused:
        return unknown(problem)
    return problem


async def _step(registry: RegistryClient, subject: str, schema: Schema) -> Step:
    step = Step(what=f"{subject}@{schema.version}", old=f"id {schema.id}, {schema.kind}", result="would delete")
    try:
        ids = await registry.referenced_by(subject, schema.version)
    except RegistryError as problem:
        if problem.status != 404:
            raise
        return step  # a registry without this request: it refuses itself
    if ids:
        step.failed(f"schemas {', '.join(map(str, ids))} refer to it: delete them first")
    return step
