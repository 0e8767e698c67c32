"""Settings of subjects, contexts and the whole registry: what a subject has not itself it inherits from its context,
then from `:.__GLOBAL:`, then from the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kcli.sandbox.registry.names import DEFAULT, GLOBAL, shown, split

REGISTRY = ""
"""The scope of the whole registry, which is the default context too."""
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")


def scope_of(subject: str) -> str:
    """A subject, a context (`:.staging:`), or the registry."""
    context, name = split(subject)
    return REGISTRY if context == DEFAULT and not name else shown(context, name)


class Scoped:
    """Settings of one kind (`level`, `mode`) by scope, each a few named values. `note` writes a change first."""

    def __init__(self, kind: str, note: Callable[[str, dict[str, Any]], None], default: Mapping[str, Any]) -> None:
        self._kind = kind
        self._note = note
        self._default = default
        self._own: dict[str, dict[str, Any]] = {}

    def own(self, subject: str) -> dict[str, Any]:
        """What was set for just this scope, empty where nothing was."""
        return self._own.get(scope_of(subject), {})

    def contexts(self) -> set[str]:
        """Those that have a setting, or a subject that has one."""
        return {split(scope)[0] for scope in self._own} - {GLOBAL}

    def of(self, subject: str) -> dict[str, Any]:
        """What holds there, each value from the nearest scope that has it."""
        found = dict(self._default)
        for scope in reversed(_chain(scope_of(subject))):
            found |= self._own.get(scope, {})
        return found

    def put(self, subject: str, values: dict[str, Any]) -> None:
        """Set values, None removes one; others that the scope has stay."""
        scope = scope_of(subject)
        merged = {name: value for name, value in {**self._own.get(scope, {}), **values}.items() if value is not None}
        self._note(f"registry {self._kind}", {"key": scope, "value": merged})
        self._own[scope] = merged

    def delete(self, subject: str) -> None:
        """Let it inherit again."""
        scope = scope_of(subject)
        self._note(f"registry {self._kind}", {"key": scope, "value": None})
        self._own.pop(scope, None)

    def restore(self, scope: str, values: dict[str, Any]) -> None:
        """As it was written."""
        self._own[scope] = values


def _chain(scope: str) -> list[str]:
    """The scope and those that it inherits from, the nearest first."""
    context = split(scope)[0]
    around = [shown(context, "")] if context not in (DEFAULT, GLOBAL) else []
    return list(dict.fromkeys([scope, *around, shown(GLOBAL, ""), REGISTRY]))
