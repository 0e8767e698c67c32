"""SQL taken apart: statements, names of topics, what may be pushed down."""

from __future__ import annotations

import pytest

from kcli.pipeline.jobs.sql import bare, mentioned, once_each, split, words


def test_statements_are_parted_by_semicolons_outside_of_texts_names_and_remarks():
    text = """SELECT ';' AS a, "x;\\";y" FROM t; -- no; statement
    SELECT `b;c` FROM `d-e` /* ; */;;
    /* nothing */ ;"""
    assert split(text) == [
        'SELECT \';\' AS a, "x;\\";y" FROM t',
        "-- no; statement\n    SELECT `b;c` FROM `d-e` /* ; */",
    ]


def test_topics_are_found_where_they_are_names():
    sql = "SELECT orders.value FROM orders o JOIN `my-topic` USING (key) WHERE a = 'orders' -- orders"
    assert mentioned(sql, ["orders", "my-topic", "other"]) == {"orders": 2, "my-topic": 1}
    assert not mentioned("SELECT 'orders' FROM Orders", ["orders"])


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT 1 FROM my-topic", "my-topic"),
        ("SELECT 1 FROM a, orders.eu", "orders.eu"),
        ("SELECT 1 FROM `orders.eu`", None),
        ("SELECT 1 FROM orders.europe", None),
    ],
)
def test_a_name_that_needs_quotes_is_seen(sql, name):
    assert bare(sql, ["my-topic", "orders.eu", "orders"]) == name


def test_a_star_that_counts_is_no_column():
    assert words(["SELECT count( * ) FROM t"]) == ["SELECT count() FROM t"]
    assert words(["DESCRIBE t"]) == ["*"]


@pytest.mark.parametrize(
    ("statements", "may"),
    [
        (["SELECT * FROM a WHERE partition = 0"], True),
        (["SELECT * FROM a JOIN b USING (key)"], True),
        (["SELECT * FROM a WHERE partition = 0 UNION ALL SELECT * FROM a WHERE partition = 1"], False),
        (["SELECT * FROM a WHERE partition = 0", "SELECT * FROM a"], False),
        (["WITH x AS (SELECT * FROM a) SELECT * FROM x p JOIN x q"], False),
        (["CREATE TEMP VIEW v AS SELECT * FROM a", "SELECT * FROM v"], False),
    ],
)
def test_conditions_are_pushed_down_only_where_a_topic_is_read_once(statements, may):
    assert once_each(statements, ["a", "b"]) is may
