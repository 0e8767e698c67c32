"""Validates JSON with jsonschema-rs (the extra `json-schema`): drafts 4, 6, 7, 2019-09 and 2020-12.

`$ref` resolves references of the schema's registry, by name, and never accesses a network or file. A text without
`$schema` is draft 7, as in Confluent's serializers.
"""

from __future__ import annotations

import json
from urllib.parse import unquote, urljoin

from kcli.errors import UsageError
from kcli.schemas import SchemaRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from jsonschema_rs import ValidationError, Validator

    from kcli.serde.json_schema.child import Child

LONGEST = 4 << 20  # characters of a schema's text
SHOWN = 3  # violations in a message
BASE = "json-schema:///"
"""Location of a schema without its own id, from which reference names are resolved."""
PATTERN_STEPS = 100_000  # steps of a regular expression with backtracking
MOST_WORK = 20_000_000
"""Limit of work (bytes of a value times schema parts that may visit each) up to which a check takes at most a
second."""
MOST_LISTED = 100_000
"""The limit up to which all violations are listed."""
DYNAMIC = ("$dynamicRef", "$recursiveRef")


class _Endless(Exception):
    """The work of a check has no known limit."""


class JsonValidator:
    """Validates values, in a separate process those that may take long. Raises SchemaRefused for an invalid schema,
    UsageError without the package."""

    def __init__(self, text: str, references: Iterable[tuple[str, str]] = ()) -> None:
        references = list(references)
        self._library = Library(text, references)
        self._child: Child | None = None
        self._start = text, references
        self._visited = self._library.visited()

    def problem(self, value: object, data: bytes | None = None) -> str | None:
        """Return the violations in a value, each with its place; None for a valid value. `data` is its JSON. Raises
        TooSlow if the check does not finish in time."""
        data = json.dumps(value).encode() if data is None else data
        work = len(data) * self._visited if self._visited is not None else MOST_WORK + 1
        if work <= MOST_WORK:
            return self._library.problem(value, every=work <= MOST_LISTED)
        if self._child is None:
            from kcli.serde.json_schema.child import Child

            self._child = Child(*self._start)
        return self._child.problem(data)


class Library:
    """A schema compiled by jsonschema-rs."""

    def __init__(self, text: str, references: Iterable[tuple[str, str]] = ()) -> None:
        try:
            import jsonschema_rs
        except ImportError:
            raise UsageError(
                "a JSON schema is checked by jsonschema-rs: pip install 'kcli-kafka[json-schema]'"
            ) from None
        self._schema = schema = _read(text)
        documents = {name: _read(referred) for name, referred in references}
        resources = {id: one for one in documents.values() if (id := _id(one))}
        ids = [*resources, _id(schema)]
        for name, document in documents.items():
            resources.setdefault(name if "://" in name else f"{BASE}{name}", document)
            for id in ids:  # a name may be relative to the id of the schema that contains it
                resources.setdefault(urljoin(id, name), document)
        self._resources = resources

        def retrieve(uri: str) -> dict[str, Any] | bool:
            if uri in resources:
                return resources[uri]
            raise ValueError(f"{uri.removeprefix(BASE)} is not one of the schema's references")

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

    def problem(self, value: object, *, every: bool) -> str | None:
        """See `JsonValidator.problem`; the first violation, or `every` one, because the library finds all of them at
        once."""
        import jsonschema_rs

        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as first:
            violations = list(self._validator.iter_errors(value)) if every else [first]
        else:
            return None
        said = [_said(violation) for violation in violations[:SHOWN]]
        return "; ".join(said + ["and more"] * (len(violations) > SHOWN))

    def visited(self) -> int | None:
        """Return how many parts of the schema the check of one place of a value may visit, following references; None
        if that is unbounded or unknown: a schema refers to itself, or in a way that only the library understands."""
        try:
            return self._visited(self._schema, self._schema, f"{BASE}schema", {}, set())
        except (_Endless, RecursionError):
            return None

    def _visited(self, node: object, document: object, base: str, known: dict[int, int], open: set[int]) -> int:
        if isinstance(node, list):
            return sum(self._visited(one, document, base, known, open) for one in node)
        if not isinstance(node, dict):
            return 0
        if (number := known.get(id(node))) is not None:
            return number
        own = _id(node)
        if node is not document and isinstance(node.get("id"), str):
            raise _Endless  # an id in the form of draft 4
        if id(node) in open or not node.keys().isdisjoint(DYNAMIC) or (own and node is not document):
            raise _Endless
        open.add(id(node))
        base = urljoin(base, own) if own else base
        number = 1
        for name, part in node.items():
            if name == "$ref" and isinstance(part, str):
                number += self._visited(*self._referred(part, document, base), known, open)
            else:
                number += self._visited(part, document, base, known, open)
        open.discard(id(node))
        known[id(node)] = number
        return number

    def _referred(self, reference: str, document: object, base: str) -> tuple[object, object, str]:
        """Resolve a reference: return the schema, its document, and its location."""
        place, _, pointer = reference.partition("#")
        if place:
            known = (urljoin(base, place), f"{BASE}{place}")
            base = next((one for one in known if one in self._resources), "")
            if not base:
                raise _Endless
            document = self._resources[base]
        node: Any = document
        if pointer and not pointer.startswith("/"):
            raise _Endless  # an anchor
        for step in unquote(pointer).split("/")[1:]:
            try:
                node = node[int(step) if isinstance(node, list) else step.replace("~1", "/").replace("~0", "~")]
            except (LookupError, TypeError, ValueError):
                raise _Endless from None
        return node, document, base


def _said(violation: ValidationError) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in violation.instance_path)
    place = f"{path.removeprefix('.')}: " if path else ""
    return f"{place}{violation.message}"


def _id(schema: object) -> str:
    """Return the id of a schema; "" for none."""
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
