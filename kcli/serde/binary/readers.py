"""Readers of the formats that need no schema, by name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from kcli.serde.schemas.payloads import PayloadReader

    Read = Callable[[bytes, bytes | None, str], bytes]
    """A field's JSON, of its bytes, the record's key and its topic. Raises Unreadable."""


def reader_of_format(name: str) -> PayloadReader:
    """Raises ValueError for a name that is none, UsageError where a package is missing."""
    if name == "cbor":
        from kcli.serde.binary.cbor import CborReader

        return CborReader()
    if name == "xml":
        from kcli.serde.binary.xml import XmlReader

        return XmlReader()
    if name == "protobuf-raw":
        from kcli.serde.binary.protobuf_raw import RawReader

        return RawReader()
    from kcli.serde.binary.numbers import NAMES, NumberReader

    if name not in NAMES:
        raise ValueError(f"unknown format {name}")
    return NumberReader(name)
