"""Payloads of a JSON schema: the JSON that they are, byte for byte."""

from __future__ import annotations

from kcli.serde.formats import read_json
from kcli.serde.schemas.payloads import PayloadReader, Unreadable


class JsonReader(PayloadReader):
    def json(self, data: bytes) -> bytes:
        try:
            read_json(data)
        except ValueError as problem:
            raise Unreadable(f"the payload is not JSON: {problem}") from None
        return data
