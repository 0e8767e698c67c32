"""What a profile counts: fields of JSON, and the page that shows what strangers wrote."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from kcli.cli.commands.pipeline.profile.page import page
from kcli.cli.commands.pipeline.profile.plots import bar, plot
from kcli.pipeline.jobs.fields import Fields, look
from kcli.pipeline.jobs.profile import Profile

EVIL = "</svg></title><script>alert(1)</script>\"'><img src=http://x/y onerror=z>\x1b]0;t\x07"


def test_fields_have_types_null_shares_ranges_and_distinct_values():
    values = [
        json.dumps({"id": n, "user": {"name": f"u{n % 7}", "age": None if n % 2 else n}}).encode() for n in range(100)
    ]
    found = {row["field"]: row for row in look([*values, None, b"no json", b"[1]"]).rows()}
    assert found["id"]["types"] == "integer"
    assert (found["id"]["min"], found["id"]["max"], found["id"]["distinct"]) == (0, 99, 100)
    assert (found["user.name"]["distinct"], found["user.name"]["longest"]) == (7, 2)
    assert found["user.age"]["null_share"] == 0.5
    assert found["user"]["types"] == "object"


def test_parts_of_a_profile_add_up_to_the_whole():
    values = [json.dumps({"a": n % 5000, "b": [{"c": n}]} if n % 3 else {"a": "x"}).encode() for n in range(20_000)]
    whole, parts = look(values), Fields()
    for start in range(0, len(values), 3000):
        parts.add(look(values[start : start + 3000]))
    rows, added = whole.rows(), parts.rows()
    assert [row | {"examples": 0} for row in added] == [row | {"examples": 0} for row in rows]
    distinct = next(row for row in rows if row["field"] == "a")["distinct"]
    assert 0.8 * 3335 < distinct < 1.2 * 5001


def test_hostile_values_cost_no_more_than_their_bytes():
    deep = b'{"a":' * 3000 + b"1" + b"}" * 3000
    wide = json.dumps({f"f{n}": n for n in range(5000)}).encode()
    found = look([deep, b'{"a":' * 100_000, wide, b"\xff", b'{"n": NaN, "big": 1e999, "s": "\\ud800"}'])
    assert len(found.paths) <= 501
    json.dumps(found.rows())


class Strict(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def test_least_and_most_are_numbers_that_json_can_say():
    rows = look([b'{"n":NaN,"m":3}', b'{"n":1e999,"m":-1e999}', b'{"n":null,"m":1%s}' % (b"0" * 400)]).rows()
    assert [(row["field"], row["min"], row["max"]) for row in rows] == [("m", 3, 10**400), ("n", None, None)]
    json.dumps(rows, allow_nan=False)


def made(name=EVIL):
    partition = {
        "partition": 0, "start": 0, "end": 2, "records": 2, "share": 1.0, "gaps": 0, "bytes": 9, "null_keys": 0,
        "null_values": 0, "first": "a", "last": "b",
    }  # fmt: skip
    size = {"part": "value", "count": 2, "bytes": 9, "min": 1, "mean": 4.5, "p50": 4, "p90": 5, "p99": 5, "p999": 5,
            "max": 5, "histogram": {"4-7": "2"}}  # fmt: skip
    found = Fields()
    found.note(json.dumps({name: name}).encode())
    return Profile(
        topic=name, records=2, partitions=[partition], sizes=[size], fields=found.rows(), step=1, sampled=1,
        keys=[{"key": name, "records": 2, "share": 1.0, "partition": 0}],
        rate=[{"time": f"2026-01-0{n}", "records": 1, "rate": float(n), "bytes": 1} for n in (1, 2)],
        summary={"records": 2, "bytes": 9, "partitions": 1, "null_keys": 0, "null_values": 0, "gaps": 0,
                 "distinct_keys": 1, "first": "a", "last": "b", "seconds": 3.0},
    )  # fmt: skip


def test_the_page_needs_no_other_file_and_runs_nothing_of_a_topic():
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


def test_bars_and_plots_keep_their_measure():
    assert bar(10, 10, 4) == "████"
    assert bar(1, 10**9, 4) == "▏"
    assert bar(0, 10, 4) == ""
    assert plot([0, 1, 2], 2) == ["  █", " ██"]
