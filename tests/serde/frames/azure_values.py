"""Prints values as Azure's encoder writes them: what `azure.json` beside this file holds (README.md)."""

from __future__ import annotations

import json
from base64 import b64encode
from importlib import import_module
from types import SimpleNamespace

AvroEncoder = import_module("azure.schemaregistry.encoder.avroencoder").AvroEncoder  # it is installed to record only

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Note",
        "fields": [{"name": "id", "type": "int"}, {"name": "text", "type": "string"}],
    }
)
ID = "000102030405060708090a0b0c0d0e0f"


class Registry:
    """In the place of Azure's client: it knows one schema."""

    def get_schema_properties(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(id=ID)

    def get_schema(self, *_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(definition=SCHEMA)


def main() -> None:
    encoder = AvroEncoder(client=Registry(), group_name="notes")
    rows = []
    for note in ({"id": 7, "text": "hi"}, {"id": -1, "text": ""}):
        message = encoder.encode(note, schema=SCHEMA)
        assert encoder.decode(message) == note
        value = b64encode(message["content"]).decode()
        rows.append({"shown": note, "content-type": message["content_type"], "value": value})
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
