"""What was set before quotas were changed, in a file that `kcli quotas restore` reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.quotas.quotas import KEYS, Entity, entity
from kcli.admin.quotas.undo import SCHEMA, document
from kcli.cli.runtime.undo import UndoFile, undo_document
from kcli.model import Cluster

if TYPE_CHECKING:
    from kcli.cli.parsing.groups import UndoOptions


async def keep(options: UndoOptions, cluster: Cluster, before: list[tuple[Entity, str, float | None]]) -> None:
    """Write what was set, None where nothing was, and say how to take the change back."""
    await UndoFile(options).keep(cluster, "quotas", document(before), "kcli quotas restore {}")


def read(path: str) -> dict[Entity, dict[str, float | None]]:
    """An undo file as changes. Raises UsageError for a file that is none."""
    changes: dict[Entity, dict[str, float | None]] = {}
    with undo_document(path, "quotas", SCHEMA) as whole:
        for row in whole.objects("quotas"):
            key = row.text("quota")
            if key not in KEYS:
                raise ValueError(f"unknown quota {key}; quotas are {', '.join(KEYS)}")
            changes.setdefault(entity(row.texts_or_nulls("entity")), {})[key] = row.number_or_null("value")
    return changes
