"""The formats of keys and values by their names, and what reads each, as `module:name`: imported for the first value.

A new format is a row here. The command line offers these names (`--value-format`), and `kcli/serde` reads by them.
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
"""Readers of payloads as JSON; those of numbers are made with the format's name."""
WHOLE = {
    "consumer-offsets": "kcli.serde.binary.internal_topics:read_offsets",
    "transaction-state": "kcli.serde.binary.internal_topics:read_transactions",
    "share-group-state": "kcli.serde.binary.internal_topics:read_share_state",
    "mm2": "kcli.serde.binary.mirror_maker:read_mirror",
}
"""Of whole records, whose value depends on the key or the topic: functions that return the reader of keys or values."""


def load(path: str) -> Any:
    """What `module:name` is."""
    from importlib import import_module

    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
