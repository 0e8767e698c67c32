"""The formats of keys and values by name, with their readers as `module:name`, imported on first use.

A new format is a new row. The command line offers these names (`--value-format`), and `kcli/serde` uses the readers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLAIN = {
    "json": "kcli.serde.formats:read_json",
    "msgpack": "kcli.serde.formats:read_msgpack",
    "url": "kcli.serde.formats:read_url",
}
"""Functions from bytes to plain Python values."""
NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double", "uuid")
SINGLE = {
    **dict.fromkeys(NUMBERS, "kcli.serde.binary.numbers:NumberReader"),
    "cbor": "kcli.serde.binary.cbor:CborReader",
    "xml": "kcli.serde.binary.xml:XmlReader",
    "protobuf-raw": "kcli.serde.binary.protobuf_raw:RawReader",
}
"""Readers that turn payloads into JSON; those of numbers are created with the format's name."""
WHOLE = {
    "consumer-offsets": "kcli.serde.binary.internal_topics:read_offsets",
    "transaction-state": "kcli.serde.binary.internal_topics:read_transactions",
    "share-group-state": "kcli.serde.binary.internal_topics:read_share_state",
    "mm2": "kcli.serde.binary.mirror_maker:read_mirror",
}
"""Readers whose result depends on the key or topic: functions that return the reader of keys or of values."""


def load(path: str) -> Any:
    """Import and return `module:name`."""
    from importlib import import_module

    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
