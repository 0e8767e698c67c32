"""What was set before configs were changed, in a file that `kcli configs restore` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs import undo
from kcli.admin.configs.resources import DELETE, SET, Operation, Resource, about, resource
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.undo import UndoFile, undo_document
from kcli.errors import KcliError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.admin.configs.resources import Config
    from kcli.admin.configs.undo import Before
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster


async def keep(options: UndoOptions, cluster: Cluster, before: Before) -> None:
    """Write what was set, None where the value was inherited, and print the command that undoes it. A secret cannot be
    read, so its row has no value to restore and is skipped."""
    name = "-".join(sorted({f"{at.kind}-{at.name or 'default'}" for at, _, _ in before}))
    await UndoFile(options).keep(cluster, name, undo.document(before), "kcli configs restore {}")


def before(
    options: UndoOptions,
    changes: Mapping[Resource, list[Operation]],
    known: Mapping[Resource, list[Config] | KcliError],
) -> Before:
    """What was set on the resources themselves, None for what they inherit; without secrets, which brokers hide."""
    rows, secrets = undo.before(changes, known)
    for at, name in secrets:
        say(options, f"{about(at)}: the previous value of {name} is secret and cannot be restored")
    return rows


def read(path: str) -> dict[Resource, list[Operation]]:
    """An undo file as changes. Raises UsageError for a file that is none."""
    changes: dict[Resource, list[Operation]] = {}
    with undo_document(path, "configs", undo.SCHEMA) as whole:
        for row in whole.objects("configs"):
            value = row.text_or_null("value")
            operation = Operation(name=row.text("config"), how=DELETE if value is None else SET, value=value)
            changes.setdefault(resource(row.text("kind"), row.text("name")), []).append(operation)
    return changes
