"""The ACLs that a change added and removed, as an undo file has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from kcli.acls import Acl

SCHEMA = "kcli.acls.undo/1"


def document(added: Iterable[Acl], removed: Iterable[Acl]) -> dict[str, Any]:
    """The undo file's contents."""
    return {
        "schema": SCHEMA,
        "added": [acl._asdict() for acl in added],
        "removed": [acl._asdict() for acl in removed],
    }
