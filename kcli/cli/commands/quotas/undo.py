"""Quotas as an undo file has them."""

from __future__ import annotations

from kcli.admin.quotas.quotas import KEYS, Entity, entity
from kcli.cli.commands.quotas.plan import ChangeRow, change
from kcli.cli.output.tables.rows import shape
from kcli.cli.parsing.groups import UndoOptions
from kcli.text.json_object import JsonObject

RESTORE = shape("undo.quotas", "Quotas that were changed, or would be.", ChangeRow)


def restore(options: UndoOptions, document: JsonObject) -> int:
    """Set quotas to the values of an undo file, and remove those that were not set. Raises ValueError."""
    changes: dict[Entity, dict[str, float | None]] = {}
    for row in document.objects("quotas"):
        key = row.text("quota")
        if key not in KEYS:
            raise ValueError(f"unknown quota {key}; quotas are {', '.join(KEYS)}")
        changes.setdefault(entity(row.texts_or_nulls("entity")), {})[key] = row.number_or_null("value")
    return change(options, RESTORE, changes)
