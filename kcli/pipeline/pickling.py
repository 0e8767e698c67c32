"""Frozen values that are sent to tasks: they can be pickled, which Frozen doesn't support by itself."""

from __future__ import annotations

from typing import Any

from kcli.values import Frozen


class Carried(Frozen):
    """Declared like a Frozen."""

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (type(self), {f.name: getattr(self, f.name) for f in type(self).__fields__})


def made(kind: type[Carried], fields: dict[str, Any]) -> Carried:
    """Restore the value."""
    return kind(**fields)
