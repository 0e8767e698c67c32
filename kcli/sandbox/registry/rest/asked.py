"""A request by what it asks for: its path's names, its query and its JSON, each read by type."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import ALL, DEFAULT, shown, split, within
from kcli.sandbox.registry.registry import LARGEST, Draft
from kcli.sandbox.registry.store import Content, Reference
from kcli.schemas import AVRO
from kcli.text.json_object import JsonObject, read_object
from kcli.values import Value

MOST_REFERENCES = 1000


class Asked(Value):
    """`context` is that of the address (`/contexts/.staging/…`); `pairs` are those of the query, in order."""

    names: Mapping[str, str] = {}
    pairs: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    context: str = DEFAULT

    @property
    def query(self) -> Mapping[str, str]:
        """The last value of each name."""
        return dict(self.pairs)

    def every(self, name: str) -> list[str]:
        """All values of a name that may be repeated."""
        return [value for one, value in self.pairs if one == name and value]

    @property
    def subject(self) -> str:
        """The subject of the path with its context."""
        context, name = split(within(self.context, self.names.get("subject", "")))
        return shown(context, name)

    @property
    def prefix(self) -> str:
        """`subjectPrefix`; `:*:` in front means all contexts."""
        given = self.query.get("subjectPrefix", ALL if self.context == DEFAULT else "")
        return given if given.startswith(ALL) else within(self.context, given)

    @property
    def place(self) -> tuple[str, str]:
        """(context, subject) in which an id is meant: the query's `subject`, which may be a context alone."""
        subject = within(self.context, self.query.get("subject", ""))
        return split(subject)[0], subject

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() == "true"

    def number(self, name: str, default: int) -> int:
        """A whole number of the query, -1 too. Raises Refused."""
        text = self.query.get(name, "") or str(default)
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 10):
            raise refusals.malformed(f"{name} is not a number")
        return int(text)

    def page(self, rows: list[Any]) -> list[Any]:
        """The rows that `offset` and `limit` ask for. Raises Refused."""
        offset, limit = max(0, self.number("offset", 0)), self.number("limit", -1)
        return rows[offset:] if limit < 0 else rows[offset : offset + limit]

    def id(self) -> int:
        """The id of the path. Raises Refused."""
        text = self.names["id"]
        if not (text.isascii() and text.isdecimal() and len(text) <= 10):
            raise refusals.no_schema()
        return int(text)

    def document(self) -> JsonObject:
        """The JSON object. Raises Refused."""
        try:
            return read_object(self.body.decode())
        except (ValueError, RecursionError) as problem:
            raise refusals.malformed(f"the request is not a JSON object: {problem}") from None

    def draft(self) -> Draft:
        """The schema that the request brings. Raises Refused."""
        document = self.document()
        try:
            return _draft(document)
        except ValueError as problem:
            raise refusals.malformed(str(problem)) from None


def _draft(row: JsonObject) -> Draft:
    references = row.objects("references") if row.has("references") else []
    if len(references) > MOST_REFERENCES:
        raise refusals.bad_schema(f"it has more than {MOST_REFERENCES:,} references")
    content = Content(
        kind=row.text("schemaType") if row.has("schemaType") else AVRO,
        text=row.text("schema") if row.has("schema") else "",
        references=tuple(
            Reference(name=one.text("name"), subject=one.text("subject"), version=one.number("version"))
            for one in references
        ),
        metadata=_kept(row, "metadata"),
        rule_set=_kept(row, "ruleSet") or _kept(row, "ruleset"),
    )
    if not content.text.isascii():
        content.text.encode()  # JSON can name half of a character: UnicodeEncodeError is a ValueError
    return Draft(content=content, id=_positive(row, "id"), number=_positive(row, "version"))


def _kept(row: JsonObject, name: str) -> str:
    """An object that is kept as JSON; "" without one."""
    return json.dumps(dict(row.nested(name).fields), separators=(",", ":")) if row.has(name) else ""


def _positive(row: JsonObject, name: str) -> int | None:
    """A number; None for none, and for the -1 and 0 that clients mean none by."""
    if not row.has(name):
        return None
    number = row.number(name)
    if number > LARGEST:
        raise ValueError(f"{name}: out of range")
    return number if number > 0 else None
