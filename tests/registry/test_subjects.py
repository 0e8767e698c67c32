"""Subjects and contexts."""

from __future__ import annotations

import pytest

from kcli.errors import UsageError
from kcli.registry.subjects import prefix, quoted, split, subject_of, within
from tests.each import each


@each(
    ("strategy", "subject"),
    [("topic", "orders-value"), ("associated", "orders-value"), ("record", "ns.O"), ("topic-record", "orders-ns.O")],
)
def test_strategies(strategy: str, subject: str) -> None:
    assert subject_of(strategy, "orders", "value", "ns.O") == subject


@each(("strategy", "says"), [("record", "schema with a name"), ("nix", "known: topic, record")])
def test_a_strategy_that_cannot_be(strategy: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        subject_of(strategy, "orders", "key")


@each(
    ("subject", "parts"),
    [
        ("orders-value", ("", "orders-value")), (":.ctx:orders-value", (".ctx", "orders-value")),
        (":.ctx:", (".ctx", "")), (":.:orders", ("", "orders")), (":*:", ("*", "")), (":odd", ("", ":odd")),
        (":odd:one", ("", ":odd:one")), ("a:b", ("", "a:b")), (":.a::b:", (".a", ":b:")),
    ],
)  # fmt: skip
def test_a_context_stands_in_front(subject: str, parts: tuple[str, str]) -> None:
    assert split(subject) == parts


def test_a_subject_within_a_context_and_one_that_has_its_own() -> None:
    assert within(".ctx", "orders") == ":.ctx:orders"
    assert within(".ctx", ":.other:orders") == ":.other:orders"
    assert within(".ctx", ":.:orders") == ":.:orders"
    assert within("", "orders") == "orders"
    assert [prefix(context) for context in ("", ".", ".ctx", "ctx", "*")] == ["", "", ":.ctx:", ":.ctx:", ":*:"]


@each(
    ("name", "path"),
    [("a/b", "a%2Fb"), (":.c:ü", "%3A.c%3A%C3%BC"), ("..", "%2E%2E"), (".", "%2E"), ("a b?#%", "a%20b%3F%23%25")],
)
def test_a_subject_is_one_part_of_a_path(name: str, path: str) -> None:
    assert quoted(name) == path
