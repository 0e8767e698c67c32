"""Changes of the schema registry: the compatibility level of a subject, and the deletion of a subject or a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.changes import schemas
from kcli.errors import UsageError
from kcli.serde.avro.compatibility import LEVELS
from kcli.tui.actions.changes.change import Ask, Change
from kcli.tui.text.printable import printable, quoted

if TYPE_CHECKING:
    from kcli.changes.change import Plan, Row
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.tui.actions.changes.change import Given


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
        wanted = given["level"].strip().upper().replace("-", "_")
        if wanted and wanted not in LEVELS:
            raise UsageError(
                f"level: expected one of {', '.join(LEVELS)}, or nothing to inherit the level of all subjects"
            )
        return await schemas.plan(client, schemas.Wanted(levels={self.subject: wanted or None}))


class DeleteSubject(Change):
    """A subject, or one version of it. Ids keep reading records where the registry deletes softly; a version that other
    schemas refer to stays."""

    destroys = True

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
        return await schemas.plan_deletion(client, [(self.subject, self.version)])

    def label(self, row: Row) -> str:
        return f"{row.name}@{row.version}" if isinstance(row, schemas.VersionRow) else row.name
