"""Prints what `events.json` beside this file holds: headers and values as the CloudEvents SDK binds them to Kafka.
README.md says how it is run."""

from __future__ import annotations

import json
from base64 import b64encode
from importlib import import_module

CloudEvent = import_module("cloudevents.http").CloudEvent  # the SDK is installed to record only
to_binary = import_module("cloudevents.kafka").to_binary

URI = "https://schemas.example.org/note"
VALUES = {
    "application/avro": (URI, b"\x0e\4hi"),
    "application/x-avro; charset=binary": (URI, b"\x0e\4hi"),
    "application/protobuf": (f"{URI}.proto#shop.Note", b"\x08\7\x12\2hi"),
}


def main() -> None:
    rows = []
    for content, (uri, data) in VALUES.items():
        attributes = {"type": "note", "source": "tests", "datacontenttype": content, "dataschema": uri, "id": "1"}
        message = to_binary(CloudEvent({**attributes, "time": "2026-11-25T00:00:00Z"}, data), data_marshaller=bytes)
        headers = [[name, b64encode(held).decode()] for name, held in message.headers.items()]
        rows.append({"form": content, "headers": headers, "value": b64encode(message.value).decode()})
    print("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]")


if __name__ == "__main__":
    main()
