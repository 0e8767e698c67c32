"""A field of the values as a column of the list of records. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kcli.serde.decoded import value_of
from kcli.serde.shape import fields
from kcli.tui.records.as_json import as_json
from kcli.tui.text.printable import printable
from kcli.tui.widgets.columns import Cell, Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kcli.tui.tail import Seen

EXAMPLES = 20
"""Records whose fields are offered."""
MOST = 64 * 1024
"""Bytes of a value that is parsed for its fields: 2 ms."""
MISSING = object()


class FieldColumns:
    """Which fields are columns, the last one first; each value is parsed once while it is shown."""

    def __init__(self, shown: Callable[[Seen], Seen]) -> None:
        self.paths: list[str] = []
        self._shown = shown
        self._parsed: dict[bytes, Any] = {}

    def turn(self, path: str) -> None:
        """Make a column of a field, or no longer; `value.` before it goes without saying."""
        path = path.strip().removeprefix("value.")
        if path in self.paths:
            self.paths.remove(path)
        elif path:
            self.paths.append(path)

    def columns(self) -> list[Column]:
        """Beside those that the list has always."""
        return [
            Column(
                f"field {path}",
                printable(path).upper(),
                lambda record, path=path: _sortable(self._of(record, path)),  # type: ignore[misc]
                draw=lambda record, path=path: _cell(self._of(record, path)),  # type: ignore[misc]
                wide=True,
                most=60,
            )
            for path in self.paths
        ]

    def _of(self, record: Seen, path: str) -> Any:
        data = self._shown(record).value
        if data is None or len(data) > MOST:
            return MISSING
        if data not in self._parsed:
            if len(self._parsed) > 4096:
                self._parsed.clear()
            self._parsed[data] = value_of(data)
        return at(self._parsed[data], path)


def at(value: Any, path: str) -> Any:
    """The field of a value: `customer.country`, `tags.0`. MISSING where it has none."""
    for name in path.split("."):
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isascii() and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def offered(records: Iterable[Seen]) -> list[str]:
    """The fields that the last records have."""
    known: dict[str, None] = {}
    for record in list(records)[-EXAMPLES:]:
        value = value_of(record.value) if record.value is not None and len(record.value) <= MOST else None
        if isinstance(value, dict):
            known |= dict.fromkeys(path for path, _ in fields(value) if "[]" not in path)
    return list(known)


def _sortable(value: Any) -> tuple[int, float, str] | None:
    """Numbers before all others; None for no field."""
    if value is MISSING:
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return 0, float(value) if abs(value) < 2**1000 else 0.0, ""
    return 1, 0.0, value if isinstance(value, str) else as_json(value)


def _cell(value: Any) -> Cell:
    if value is MISSING:
        return Cell("", "dim")
    if isinstance(value, str):
        return Cell(printable(value))
    return Cell(printable(as_json(value)), "dim" if value is None else "accent")
