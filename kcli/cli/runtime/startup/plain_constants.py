"""Leave the constants of socket and signal the integers they are until their enums are asked for.

Both modules make enums of two hundred constants while they are imported, which costs 2 ms, and a short-lived process
needs none of them. A substitute becomes the real enum, with all of its constants, when something but the module itself
uses it.
"""

from __future__ import annotations

import sys
from enum import EnumType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class LaterEnum:
    """An enum that a module of the standard library would have made of its constants."""

    def __init__(self, module: str, make: Callable[[], Any]) -> None:
        self._names = vars(sys.modules[module])
        self._make = make
        self._enum: Any = None

    def _made(self) -> Any:
        if self._enum is None:
            self._enum = self._make()
        return self._enum

    def __call__(self, *values: Any) -> Any:
        """The member of a value; the value itself for the module that has the enum, which asks for each result."""
        if self._enum is None and sys._getframe(1).f_globals is self._names:
            return values[0]
        return self._made()(*values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made(), name)

    def __getitem__(self, name: str) -> Any:
        return self._made()[name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())

    def __contains__(self, value: object) -> bool:
        return value in self._made()

    def __or__(self, other: Any) -> Any:
        """The union of types that an annotation means."""
        return self._made() | other

    def __ror__(self, other: Any) -> Any:
        return other | self._made()

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._made())


class PlainConstants:
    """While this is open, socket and signal are imported with substitutes for their enums."""

    def __enter__(self) -> None:
        self._convert: Any = getattr(EnumType, "_convert_", None)  # None: a Python that makes them in another way
        if self._convert is not None:
            EnumType._convert_ = _later(self._convert)  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        if self._convert is not None:
            EnumType._convert_ = self._convert  # type: ignore[attr-defined]


def _later(convert: Any) -> Callable[..., Any]:
    def later(kind: Any, name: str, module: str, *rest: Any, **options: Any) -> Any:
        if module not in ("socket", "signal"):
            return convert(kind, name, module, *rest, **options)
        enum = LaterEnum(module, lambda: convert(kind, name, module, *rest, **options))
        vars(sys.modules[module])[name] = enum
        return enum

    return later
