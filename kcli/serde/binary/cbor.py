"""Converts CBOR (RFC 8949) to JSON with cbor2 (the extra `cbor`): bytes become `{"base64": …}`, times ISO 8601, other
tags their content."""

from __future__ import annotations

import json
import math
from base64 import b64encode

from kcli.errors import UsageError
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 256
SHARED = (b"\xd8\x1c", b"\xd8\x1d", b"\xd9\x01\x00", b"\xd8\x19")
"""Tags that let one value occur in many places: a few bytes could expand to any number of values."""


class CborReader(PayloadReader):
    """Raises UsageError without the package."""

    def __init__(self) -> None:
        try:
            import cbor2
        except ImportError:
            raise UsageError("CBOR is read by cbor2: pip install 'kcli-kafka[cbor]'") from None
        self._cbor = cbor2

    def json(self, data: bytes) -> bytes:
        if any(tag in data for tag in SHARED):
            raise Unreadable("it has values that are shared")
        try:
            value, rest = self._load(data)
        except (
            self._cbor.CBORDecodeError,
            RecursionError,
            ValueError,
            OverflowError,
            MemoryError,
            TypeError,
        ) as problem:
            raise Unreadable(f"it is not CBOR: {str(problem).partition(chr(10))[0][:100]}") from None
        if rest:
            raise Unreadable("bytes are left after the value")
        try:
            text = json.dumps(self._plain(value, 0), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            return text.encode()
        except UnicodeEncodeError:
            raise Unreadable("a string is not UTF-8") from None

    def _load(self, data: bytes) -> tuple[Any, bytes]:
        from io import BytesIO

        stream = BytesIO(data)
        value = self._cbor.CBORDecoder(stream).decode()
        return value, stream.read(1)

    def _plain(self, value: Any, depth: int) -> Any:
        """Return a value that JSON can express. Raises Unreadable if it is nested too deeply."""
        if depth > DEEPEST:
            raise Unreadable(f"values are nested more than {DEEPEST} deep")
        if isinstance(value, dict) or hasattr(value, "items"):
            return {self._name(key): self._plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._plain(inner, depth + 1) for inner in value]
        if isinstance(value, float) and not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        if value is None or isinstance(value, str | int | float):
            return value
        if isinstance(value, bytes | bytearray):
            return {"base64": b64encode(value).decode()}
        if isinstance(value, self._cbor.CBORTag):
            return self._plain(value.value, depth + 1)
        if value is self._cbor.undefined:
            return None
        return value.isoformat() if hasattr(value, "isoformat") else str(value)

    def _name(self, key: Any) -> str:
        if isinstance(key, str):
            return key
        plain = self._plain(key, 0)
        return json.dumps(plain) if isinstance(plain, dict | list | bool) or plain is None else str(plain)
