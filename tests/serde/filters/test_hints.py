"""Hints of conditions: they never cost a record, however its value is written, and spare most others the decoding."""

from __future__ import annotations

import json
import random
from typing import Any

import msgpack
import pytest

from kcli.serde.decoded import value_of
from kcli.serde.filters import filter as filters
from kcli.serde.filters.filter import Filter
from kcli.serde.filters.where import Where
from tests.serde.filters.test_filter import batch_of

CONDITIONS = [
    "value.id == 7",
    "7 == value.id",
    "value.in.id == 70",
    "value.id == 1200",
    'value.name == "ann"',
    'value == "ann"',
    '"ann" in value.name',
    'value.name.startswith("an") and value.id == 7',
    'contains(value.names, "ann")',
    'endswith(value.name, "nn")',
    'value["na/me"] == "a/b"',
    'key == "7"',
    "key.id == 7",
    'headers.name == "ann"',
    'headers["name"] == "ann" and value.id == 7',
    'value.id == 7 or headers.name == "ann"',
    'value.name != "ann"',
    "not value.id == 7",
    "value.is == 7",
]
TEXTS = [
    '{"id": 7}', '{"id":7.0}', '{ "id"\t: 70e-1 }', '{"id": 0.7e1}', '{"\\u0069d": 7}', '{"id": 71}', '{"id": "7"}',
    '{"in": {"id": 7e1}}', '{"in": {"id": 70}}', '{"id": 12e2}', '{"id": 1200}', '{"id": true}', '{"is": 7}',
    '{"name": "ann"}', '{"name": "\\u0061nn"}', '{"name": "anne", "id": 7}', '{"names": ["ann"]}',
    '{"names": {"ann": 1}}',
    '{"na\\/me": "a\\/b"}', '{"na/me": "a/b"}', "ann", '"ann"', '"\\u0061nn"', "7", "", "{", "é{", '{"name": "é ann"}',
    '{"id": 7, "id": 8}', '{"id": 8, "id": 7}', '{"id": -7}', '{"name": "nn"}', "[7]",
]  # fmt: skip
MAPS = {"id": 7}, {"id": 7.0}, {"name": "ann"}, {"in": {"id": 70}}, {"names": ["ann"]}
VALUES: list[bytes | None] = [
    None,
    b"\xff",
    b'{"name": "ann", "x": "\xff"}',
    *(text.encode() for text in TEXTS),
    *map(msgpack.packb, MAPS),
]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("seed", range(10))
def test_the_records_that_are_kept_are_those_for_which_the_condition_holds(condition: str, seed: int) -> None:
    chance = random.Random(seed)
    names = [None, b"ann", b"anne", b"", b"\xff"]
    records: list[tuple[Any, ...]] = [
        (
            number,
            chance.choice([None, b"7", b"77", b'{"id": 7}', b'{"\\u0069d": 7}', b"ann"]),
            chance.choice(VALUES),
            [("name", chance.choice(names))] * chance.randint(0, 2),
        )
        for number in range(chance.choice([1, 40, 300]))
    ]
    batch = batch_of(records)
    keep = Filter(where=[Where(condition)])
    wanted = [record.offset for record in batch if keep.record(record, "t", 0)]
    kept = keep.batch(batch, "t", 0)
    assert ([] if kept is None else [record.offset for record in kept]) == wanted
    assert (kept is None) == (not wanted)


@pytest.mark.parametrize(
    "condition", ["value.id == 7", 'value.name == "n-7"', '"n-7" in value.name and value.id > 1', 'headers.n == "n-7"']
)
def test_what_cannot_hold_is_not_decoded(condition: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes | None] = []

    def spied(data: bytes | None) -> Any:
        seen.append(data)
        return value_of(data)

    monkeypatch.setattr(filters, "value_of", spied)
    values = [json.dumps({"id": number, "name": f"n-{number}."[:-1]}).encode() for number in range(1000)]
    batch = batch_of([(0, None, value, [("n", f"n-{n}".encode())]) for n, value in enumerate(values)])
    keep = Filter(where=[Where(condition + " and value != null")], value=spied)
    kept = keep.batch(batch, "t", 0)
    assert kept is not None
    assert 7 in [record.offset for record in kept]
    assert len(seen) < 130
