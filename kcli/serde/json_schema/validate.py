"""JSON held against a JSON schema, by jsonschema-rs (the extra `json-schema`): drafts 4, 6, 7, 2019-09 and 2020-12.

`$ref` leads to what the schema's own registry refers to, by the name of the reference, and never to a network or a
file. A text without `$schema` is of draft 7, as with Confluent's serializers.
"""

from __future__ import annotations

import json
from urllib.parse import urljoin

from kcli.errors import UsageError
from kcli.schemas import SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from jsonschema_rs import Validator

LONGEST = 4 << 20  # characters of a schema's text
SHOWN = 3  # violations that a message names
BASE = "json-schema:///"
"""Where a schema without an id of its own is: names of references are read from there."""
PATTERN_STEPS = 100_000  # of a regular expression that goes back


class JsonValidator:
    """Raises SchemaRefused for a schema that is none, UsageError without the package."""

    def __init__(self, text: str, references: Iterable[tuple[str, str]] = ()) -> None:
        try:
            import jsonschema_rs
        except ImportError:
            raise UsageError(
                "a JSON schema is checked by jsonschema-rs: pip install 'kcli-kafka[json-schema]'"
            ) from None
        schema = _read(text)
        documents = {name: _read(referred) for name, referred in references}
        resources = {id: one for one in documents.values() if (id := _id(one))}
        ids = [*resources, _id(schema)]
        for name, document in documents.items():
            resources.setdefault(name if "://" in name else f"{BASE}{name}", document)
            for id in ids:  # a name may be relative to the id of the schema that has it
                resources.setdefault(urljoin(id, name), document)

        def retrieve(uri: str) -> dict[str, Any] | bool:
            if uri in resources:
                return resources[uri]
            raise ValueError(f"{uri.removeprefix(BASE)} is none of the schema's references")

        draft = schema.get("$schema") if isinstance(schema, dict) else None
        validator_for = jsonschema_rs.validator_for if draft else jsonschema_rs.Draft7Validator
        has_id = isinstance(schema, dict) and ("$id" in schema or "id" in schema)
        options = jsonschema_rs.FancyRegexOptions(backtrack_limit=PATTERN_STEPS)
        try:
            self._validator: Validator = validator_for(
                schema, retriever=retrieve, base_uri=None if has_id else f"{BASE}schema", pattern_options=options
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as problem:
            raise _refuse(str(problem).partition("\n")[0]) from None

    def problem(self, value: object) -> str | None:
        """What of a value the schema forbids, each violation with its place; None for a value that holds."""
        violations: list[str] = []
        for violation in self._validator.iter_errors(value):
            if len(violations) == SHOWN:
                violations.append("and more")
                break
            path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in violation.instance_path)
            place = f"{path.removeprefix('.')}: " if path else ""
            violations.append(f"{place}{violation.message}")
        return "; ".join(violations) or None


def _id(schema: object) -> str:
    """The id of a schema; "" for none."""
    id = schema.get("$id") if isinstance(schema, dict) else None
    return id if isinstance(id, str) else ""


def _read(text: str) -> dict[str, Any] | bool:
    if len(text) > LONGEST:
        raise _refuse(f"its text is longer than {LONGEST >> 20} MiB")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise _refuse(f"its text is not JSON: {problem}") from None
    if not isinstance(document, dict | bool):
        raise _refuse("it is an object, true or false")
    return document


def _refuse(problem: str) -> SchemaRefused:
    return SchemaRefused(f"the JSON schema is not used: {problem}")
