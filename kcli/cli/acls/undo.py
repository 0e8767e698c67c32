"""What ACLs a change added and removed, in a file that `kcli acls restore` takes back; and ACLs read from a file."""

from __future__ import annotations

import json
import sys

from kcli.acls import Acl
from kcli.cli.acls.command import row
from kcli.cli.acls.words import checked
from kcli.cli.undo import UndoFile
from kcli.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.cli.option import Values
    from kcli.model import Cluster

SCHEMA = "kcli.acls.undo/1"
LIST = "kcli.acls.list/1"


def check(values: Values) -> None:
    """Raises UsageError for options that contradict each other, and for a file that is there already."""
    UndoFile(values).check()


async def keep(values: Values, cluster: Cluster, added: list[Acl], removed: list[Acl]) -> None:
    """Write what will be added and removed, and say how to take the change back."""
    document = {"schema": SCHEMA, "added": list(map(row, added)), "removed": list(map(row, removed))}
    await UndoFile(values).keep(cluster, "acls", document, "kcli acls restore {}")


def read(path: str) -> tuple[list[Acl], list[Acl]]:
    """The ACLs that were added, and those that were removed. Raises UsageError for a file that is none."""
    whole = _document(path, (SCHEMA,))
    return _acls(path, whole, "added"), _acls(path, whole, "removed")


def listed(path: str) -> list[Acl]:
    """The ACLs that `kcli acls list` printed, or that an undo file says were removed. Raises UsageError."""
    whole = _document(path, (LIST, SCHEMA))
    return _acls(path, whole, "acls" if whole["schema"] == LIST else "removed")


def _document(path: str, schemas: tuple[str, ...]) -> dict[str, Any]:
    try:
        if path == "-":
            text = sys.stdin.read()
        else:
            with open(path, encoding="utf-8") as source:
                text = source.read()
        whole = json.loads(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON ({error})") from None
    found = whole.get("schema") if isinstance(whole, dict) else None
    if found not in schemas:
        raise UsageError(f"{path}: the schema of ACLs is {' or '.join(schemas)}, here it is {found}")
    return dict(whole)


def _acls(path: str, whole: dict[str, Any], section: str) -> list[Acl]:
    try:
        rows = [Acl(*(each[name] for name in Acl._fields)) for each in whole[section]]
    except (KeyError, TypeError):
        raise UsageError(f"{path}: a row of {section} has {', '.join(Acl._fields)}, each a text") from None
    for one in rows:
        if not all(isinstance(text, str) for text in one):
            raise UsageError(f"{path}: a row of {section} has {', '.join(Acl._fields)}, each a text")
    return list(dict.fromkeys(checked(one, known=True) for one in rows))
