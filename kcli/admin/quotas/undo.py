"""The quotas before a change, as an undo file has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kcli.admin.quotas.quotas import Entity

SCHEMA = "kcli.quotas.undo/1"


def document(before: Iterable[tuple[Entity, str, float | None]]) -> dict[str, Any]:
    """The undo file's contents; the value is None where no quota was set."""
    return {
        "schema": SCHEMA,
        "quotas": [{"entity": at.names, "quota": key, "value": value} for at, key, value in before],
    }
