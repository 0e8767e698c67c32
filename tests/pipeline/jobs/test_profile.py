"""What a profile counts: fields of JSON, and the page that shows what strangers wrote."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest

from kcli.cli.commands.pipeline.profile.page import page
from kcli.cli.commands.pipeline.profile.plots import bar, plot
from kcli.cli.commands.pipeline.profile.rows import FieldRow, field_rows, topic_row
from kcli.pipeline.jobs.fields import Fields, fields_of
from kcli.pipeline.jobs.profile import Key, Partition, Profile, RateStep, Sizes

EVIL = "</svg></title><script>alert(1)</script>\"'><img src=http://x/y onerror=z>\x1b]0;t\x07"
NOW = 1_700_000_000_000


def test_fields_have_types_null_shares_ranges_and_distinct_values() -> None:
    values = [
        json.dumps({"id": n, "user": {"name": f"u{n % 7}", "age": None if n % 2 else n}}).encode() for n in range(100)
    ]
    rows = {row.field: row for row in field_rows(fields_of([*values, None, b"no json", b"[1]"]))}
    assert rows["id"].types == "integer"
    assert (rows["id"].min, rows["id"].max, rows["id"].distinct) == (0, 99, 100)
    assert (rows["user.name"].distinct, rows["user.name"].longest) == (7, 2)
    assert rows["user.age"].null_share == 0.5
    assert rows["user"].types == "object"


@pytest.mark.slow
def test_parts_of_a_profile_add_up_to_the_whole() -> None:
    values = [json.dumps({"a": n % 5000, "b": [{"c": n}]} if n % 3 else {"a": "x"}).encode() for n in range(20_000)]
    whole, parts = fields_of(values), Fields()
    for start in range(0, len(values), 3000):
        parts.add(fields_of(values[start : start + 3000]))
    rows, added = field_rows(whole), field_rows(parts)
    distinct = next(row for row in rows if row.field == "a").distinct
    for row in rows + added:
        row.examples = []
    assert added == rows
    assert 0.8 * 3335 < distinct < 1.2 * 5001


def test_hostile_values_cost_no_more_than_their_bytes() -> None:
    deep = b'{"a":' * 3000 + b"1" + b"}" * 3000
    wide = json.dumps({f"f{n}": n for n in range(5000)}).encode()
    fields = fields_of([deep, b'{"a":' * 100_000, wide, b"\xff", b'{"n": NaN, "big": 1e999, "s": "\\ud800"}'])
    assert len(fields.paths) <= 501
    as_json(field_rows(fields))


def as_json(rows: list[FieldRow]) -> str:
    return json.dumps([row.as_json() for row in rows], allow_nan=False)


class Strict(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_least_and_most_are_numbers_that_json_can_say() -> None:
    fields = fields_of([b'{"n":NaN,"m":3}', b'{"n":1e999,"m":-1e999}', b'{"n":null,"m":1%s}' % (b"0" * 400)])
    rows = field_rows(fields)
    assert [(row.field, row.min, row.max) for row in rows] == [("m", 3, 10**400), ("n", None, None)]
    as_json(rows)


def made(name: str = EVIL) -> Profile:
    fields = Fields()
    fields.note(json.dumps({name: name}).encode())
    return Profile(
        topic=name,
        distinct_keys=1,
        partitions=[Partition(end=2, records=2, share=1.0, bytes=9, first=NOW, last=NOW + 3000)],
        sizes=[
            Sizes(
                part="value",
                count=2,
                bytes=9,
                min=1,
                mean=4.5,
                p50=4,
                p90=5,
                p99=5,
                p999=5,
                max=5,
                histogram={"4-7": 2},
            )
        ],
        keys=[Key(key=name, records=2, share=1.0, partition=0)],
        rate=[RateStep(begin=NOW + n * 1000, records=1, rate=float(n), bytes=1) for n in (1, 2)],
        step=1,
        fields=fields,
    )


def test_the_page_needs_no_other_file_and_runs_nothing_of_a_topic() -> None:
    text = page(made())
    seen = Strict()
    seen.feed(text)
    tags = [tag for tag, _ in seen.tags]
    assert not {"script", "img", "link", "iframe", "object", "a"} & set(tags)
    assert tags.count("svg") == 4
    for tag, attributes in seen.tags:
        assert not any(name.startswith("on") or name in ("src", "href", "style") for name in attributes), tag
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text
    assert "\x1b" not in text
    assert re.search(r"&lt;script&gt;", text)


def test_bars_and_plots_keep_their_measure() -> None:
    assert bar(10, 10, 4) == "████"
    assert bar(1, 10**9, 4) == "▏"
    assert bar(0, 10, 4) == ""
    assert plot([0, 1, 2], 2) == ["  █", " ██"]


def test_the_row_of_a_topic_sums_up_its_partitions() -> None:
    row = topic_row(made("orders"))
    assert (row.partitions, row.records, row.bytes, row.gaps, row.skew) == (1, 2, 9, 0, 1.0)
    assert (row.first, row.last) == ("2023-11-14T22:13:20.000Z", "2023-11-14T22:13:23.000Z")
    assert (row.seconds, row.rate, row.sampled, row.json_share) == (3.0, 0.667, 1, 1.0)
    empty = topic_row(Profile(topic="orders", partitions=[Partition(partition=0, start=7, end=7)]))
    assert (empty.records, empty.skew, empty.first, empty.rate, empty.json_share) == (0, None, None, None, None)
