"""Reads payloads with a JSON schema: the JSON itself, byte for byte."""

from __future__ import annotations

from kcli.serde.formats import read_json
from kcli.serde.json_schema.child import TooSlow
from kcli.serde.schemas.payloads import PayloadReader, Unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.json_schema.validate import JsonValidator

FORBIDDEN = "its schema forbids it: "
"""Prefix of the reason for a value that its schema forbids."""


class JsonReader(PayloadReader):
    """With a validator, values that the schema forbids are unreadable, too."""

    def __init__(self, validator: JsonValidator | None = None) -> None:
        self._validator = validator

    def json(self, data: bytes) -> bytes:
        try:
            value = read_json(data)
        except ValueError as problem:
            raise Unreadable(f"the payload is not JSON: {problem}") from None
        try:
            violation = None if self._validator is None else self._validator.problem(value, data)
        except TooSlow as problem:
            raise Unreadable(str(problem)) from None
        if violation is not None:
            raise Unreadable(f"{FORBIDDEN}{violation}")
        return data
