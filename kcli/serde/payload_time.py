"""The time in a field of a record's value, in milliseconds since the epoch.

The size of a number determines its unit: up to 10 digits seconds, 13 milliseconds, 16 microseconds, 19 nanoseconds.
Texts are such numbers or ISO 8601; without a zone they are local, as everywhere in kcli. Zero and negative numbers are
not times.
"""

from __future__ import annotations

from kcli.serde import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from kcli.proto.batch import Batch

    Decode = Callable[[Batch, str, int], Awaitable[Batch]]
    """Decodes a batch, given its topic and partition, before its values are read."""

NULL, UNREADABLE, MISSING, NO_TIME = "null", "unreadable", "missing", "no time"
"""Why a record has no time: null value, not of the format, field missing, or the field is not a time."""

_SCALES = ((10**10, 1000, 1), (10**13, 1, 1), (10**16, 1, 1000), (10**19, 1, 1_000_000))
"""(below, multiplier, divisor) that convert a number to milliseconds."""


class TimeField:
    """Reads the time of values. `field` is a name, or names with dots (`event.ts`, `items.0.at`). `format` is json,
    msgpack, url, or auto, which tries `likely` first and then detects the format."""

    def __init__(self, field: str, format: str = "auto", likely: str | None = None) -> None:
        """Raises ValueError for an unknown format."""
        self.field = field
        self.format = format
        self.decode: Decode | None = None
        """Applied to stored batches before their values are read, for example to decode Avro with a registry."""
        self._path = tuple(field.split("."))
        self.hint(likely)

    def hint(self, likely: str | None) -> None:
        """Set the format that most values have; used only with auto."""
        self.likely = likely
        first = self.format if self.format != "auto" else likely
        self._read = formats.reader(first) if first is not None else formats.read_any
        self._else = formats.read_any if self.format == "auto" and likely is not None else None

    def value(self, data: bytes) -> Any:
        """The decoded value. Raises ValueError."""
        try:
            return self._read(data)
        except ValueError:
            if self._else is None:
                raise
            return self._else(data)

    def time(self, data: bytes | None) -> int | None:
        """Return the time in ms; None if there is none: `why` returns the reason."""
        if data is None:
            return None
        try:
            value = self.value(data)
        except ValueError:
            return None
        return milliseconds(lookup(value, self._path))

    def why(self, data: bytes | None) -> str:
        """Return why there is no time: NULL, UNREADABLE, MISSING or NO_TIME."""
        if data is None:
            return NULL
        try:
            value = self.value(data)
        except ValueError:
            return UNREADABLE
        return MISSING if lookup(value, self._path) is None else NO_TIME

    def fields(self, data: bytes) -> list[str]:
        """Return the field names of a value, nested ones with dots. Raises ValueError."""
        return _names(self.value(data), "")


def _names(value: Any, before: str, depth: int = 0) -> list[str]:
    if not isinstance(value, dict):
        return []
    names: list[str] = []
    for name, inner in value.items():
        deeper = _names(inner, f"{before}{name}.", depth + 1) if depth < 3 else []
        names += deeper or [f"{before}{name}"]
    return names


def lookup(value: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path of names and list indexes; a name that itself contains the dots has precedence. None
    if there is no value."""
    if not path:
        return value
    if isinstance(value, dict):
        if len(path) > 1 and (whole := ".".join(path)) in value:
            return value[whole]
        return lookup(value.get(path[0]), path[1:])
    if isinstance(value, list) and path[0].isascii() and path[0].isdigit() and int(path[0]) < len(value):
        return lookup(value[int(path[0])], path[1:])
    return None


def milliseconds(value: Any) -> int | None:
    """Return a number or text as ms since the epoch, None if it is not a time."""
    kind = type(value)
    if kind is int:
        return _scaled(value)
    if kind is float:
        return _scaled_float(value)
    return _text(value.strip()) if kind is str else None


def _scaled(number: int) -> int | None:
    if number <= 0:
        return None
    for below, times, divisor in _SCALES:
        if number < below:
            return number * times // divisor
    return None


def _scaled_float(number: float) -> int | None:
    if not 0 < number < 1e19:  # also excludes NaN
        return None
    for below, times, divisor in _SCALES:
        if number < below:
            return round(number * times / divisor)
    return None


def _text(text: str) -> int | None:
    if not text[:1].isdigit() or not text.isascii() or len(text) > 64:
        return None
    if text.isdigit():
        return _scaled(int(text))
    if text.replace(".", "", 1).isdigit():
        return _scaled_float(float(text))
    from datetime import datetime

    try:
        epoch_ms = round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return epoch_ms if epoch_ms > 0 else None
