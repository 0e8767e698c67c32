"""What was set before configs were changed, in a file that `kcli configs restore` takes back."""

from __future__ import annotations

import json

from kcli.admin.config_resources import DELETE, SET, Operation, Resource, about, own, resource
from kcli.cli.admin import say
from kcli.cli.undo import UndoFile
from kcli.errors import KcliError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.admin.config_resources import Config
    from kcli.cli.option import Values
    from kcli.model import Cluster

    Before = list[tuple[Resource, str, str | None]]

SCHEMA = "kcli.configs.undo/1"


def check(values: Values) -> None:
    """Raises UsageError for options that contradict each other, and for a file that is there already."""
    UndoFile(values).check()


async def keep(values: Values, cluster: Cluster, before: Before) -> None:
    """Write what was set, None where the value was inherited, and say how to take the change back. A secret cannot be
    read, so its row has no value to restore and is left out."""
    rows = [{"kind": at.kind, "name": at.name, "config": name, "value": value} for at, name, value in before]
    name = "-".join(sorted({f"{at.kind}-{at.name or 'default'}" for at, _, _ in before}))
    await UndoFile(values).keep(cluster, name, {"schema": SCHEMA, "configs": rows}, "kcli configs restore {}")


def before(
    values: Values, changes: Mapping[Resource, list[Operation]], known: Mapping[Resource, list[Config] | KcliError]
) -> Before:
    """What was set on the resources themselves, None for what they inherit; without secrets, which nobody can read."""
    found: Before = []
    for at, operations in changes.items():
        configs = known[at]
        by_name = {} if isinstance(configs, KcliError) else {one.name: one for one in configs}
        for one in operations:
            was = by_name.get(one.name)
            if was is None or not own(at, was):
                found.append((at, one.name, None))
            elif was.secret:
                say(values, f"{about(at)}: what {one.name} was is secret, so that it cannot be taken back")
            else:
                found.append((at, one.name, was.value))
    return found


def read(path: str) -> dict[Resource, list[Operation]]:
    """An undo file as changes. Raises UsageError for a file that is none."""
    try:
        with open(path, encoding="utf-8") as source:
            whole = json.load(source)
        if whole["schema"] != SCHEMA:
            raise UsageError(f"{path}: not an undo file of configs but {whole['schema']}")
        found: dict[Resource, list[Operation]] = {}
        for row in whole["configs"]:
            kind, called, name, value = row["kind"], row["name"], row["config"], row["value"]
            if not all(isinstance(one, str) for one in (kind, called, name, "" if value is None else value)):
                raise ValueError(f"{name}: a name and a value are strings")
            how = DELETE if value is None else SET
            found.setdefault(resource(kind, called), []).append(Operation(name=name, how=how, value=value))
        return found
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}: not an undo file of configs ({error})") from None
