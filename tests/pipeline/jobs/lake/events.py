"""Change events as Debezium's JSON converter writes them: with and without the schema in each record."""

from __future__ import annotations

import json
from typing import Any

FIELDS = [
    {"type": "int64", "optional": False, "field": "id"},
    {"type": "string", "optional": True, "field": "name"},
    {"type": "double", "optional": True, "field": "total"},
]
SOURCE = {"version": "3.0.0.Final", "connector": "postgresql", "name": "db", "db": "shop", "table": "orders"}
Record = tuple[int | None, int | None, bytes | None, bytes | None, tuple[Any, ...]]


def row(number: int, name: str, total: float | None) -> dict[str, Any]:
    return {"id": number, "name": name, "total": total}


def event(
    op: str,
    before: dict[str, Any] | None,
    after: dict[str, Any] | None,
    *,
    schema: bool = False,
    partition: int = 0,
) -> Record:
    """A record of a topic: the key has the row's id."""
    payload = {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 1_700_000_000_000}
    key = {"id": ((after or before) or {}).get("id")}
    if schema:
        whole = {"type": "struct", "fields": [{"type": "struct", "fields": FIELDS, "field": "after"}]}
        keys = {"type": "struct", "fields": FIELDS[:1], "optional": False, "name": "db.shop.orders.Key"}
        value: Any = {"schema": whole, "payload": payload}
        return partition, None, json.dumps({"schema": keys, "payload": key}).encode(), json.dumps(value).encode(), ()
    return partition, None, json.dumps(key).encode(), json.dumps(payload).encode(), ()


def tombstone(number: int, *, schema: bool = False, partition: int = 0) -> Record:
    """The record that lets a compacted topic forget a key."""
    return (*event("d", {"id": number}, None, schema=schema, partition=partition)[:3], None, ())


EVENTS = [
    event("r", None, row(1, "ann", 1.5)),
    event("c", None, row(2, "bob", 2.5)),
    event("c", None, row(3, "cyd", 3.5)),
    event("u", row(1, "ann", 1.5), row(1, "ann", 7.5)),
    event("d", row(3, "cyd", 3.5), None),
    tombstone(3),
]
"""Three orders, of which one is changed and one deleted."""
