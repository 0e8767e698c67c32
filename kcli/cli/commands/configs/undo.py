"""What was set before configs were changed, in a file that `kcli configs restore` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.configs.resources import DELETE, SET, Operation, Resource, about, own, resource
from kcli.cli.runtime.answer import say
from kcli.cli.runtime.undo import UndoFile, undo_document
from kcli.errors import KcliError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.admin.configs.resources import Config
    from kcli.cli.parsing.groups import UndoOptions
    from kcli.model import Cluster

    Before = list[tuple[Resource, str, str | None]]

SCHEMA = "kcli.configs.undo/1"


async def keep(options: UndoOptions, cluster: Cluster, before: Before) -> None:
    """Write what was set, None where the value was inherited, and print the command that undoes it. A secret cannot be
    read, so its row has no value to restore and is skipped."""
    rows = [{"kind": at.kind, "name": at.name, "config": name, "value": value} for at, name, value in before]
    name = "-".join(sorted({f"{at.kind}-{at.name or 'default'}" for at, _, _ in before}))
    await UndoFile(options).keep(cluster, name, {"schema": SCHEMA, "configs": rows}, "kcli configs restore {}")


def before(
    options: UndoOptions,
    changes: Mapping[Resource, list[Operation]],
    known: Mapping[Resource, list[Config] | KcliError],
) -> Before:
    """What was set on the resources themselves, None for what they inherit; without secrets, which brokers hide."""
    rows: Before = []
    for at, operations in changes.items():
        configs = known[at]
        by_name = {} if isinstance(configs, KcliError) else {config.name: config for config in configs}
        for name in (operation.name for operation in operations):
            was = by_name.get(name)
            if was is None or not own(at, was):
                rows.append((at, name, None))
            elif was.secret:
                say(options, f"{about(at)}: the previous value of {name} is secret and cannot be restored")
            else:
                rows.append((at, name, was.value))
    return rows


def read(path: str) -> dict[Resource, list[Operation]]:
    """An undo file as changes. Raises UsageError for a file that is none."""
    changes: dict[Resource, list[Operation]] = {}
    with undo_document(path, "configs", SCHEMA) as whole:
        for row in whole.objects("configs"):
            value = row.text_or_null("value")
            operation = Operation(name=row.text("config"), how=DELETE if value is None else SET, value=value)
            changes.setdefault(resource(row.text("kind"), row.text("name")), []).append(operation)
    return changes
