"""What was set before configs were changed, as the undo file has it that `kcli configs restore` reads."""

from __future__ import annotations

from kcli.admin.configs.resources import Resource, own
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from kcli.admin.configs.resources import Config, Operation

    Before = list[tuple[Resource, str, str | None]]

SCHEMA = "kcli.configs.undo/1"


def before(
    changes: Mapping[Resource, list[Operation]], known: Mapping[Resource, list[Config] | KcliError]
) -> tuple[Before, list[tuple[Resource, str]]]:
    """What was set on the resources themselves, None for what they inherit; and the secrets, which brokers hide: they
    cannot be restored and have no row."""
    rows: Before = []
    secrets: list[tuple[Resource, str]] = []
    for at, operations in changes.items():
        configs = known[at]
        by_name = {} if isinstance(configs, KcliError) else {config.name: config for config in configs}
        for name in (operation.name for operation in operations):
            was = by_name.get(name)
            if was is None or not own(at, was):
                rows.append((at, name, None))
            elif was.secret:
                secrets.append((at, name))
            else:
                rows.append((at, name, was.value))
    return rows, secrets


def document(before: Before) -> dict[str, Any]:
    """The document of an undo file, without the time and the cluster."""
    rows = [{"kind": at.kind, "name": at.name, "config": name, "value": value} for at, name, value in before]
    return {"schema": SCHEMA, "configs": rows}
