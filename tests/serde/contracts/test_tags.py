"""Tags of fields by patterns of their paths, which come from a registry."""

from __future__ import annotations

import json
import random
import re
import time

import pytest

from kcli.schemas import Schema
from kcli.serde.contracts.rules import Rule
from kcli.serde.contracts.tags import Tags


def tags(pattern: str) -> Tags:
    """Of a schema whose metadata gives one tag to the fields of a pattern, and a rule that encrypts that tag."""
    metadata = json.dumps({"tags": {pattern: ["PII"]}})
    return Tags(Schema(text='"string"', metadata=metadata), [rule()])


def rule() -> Rule:
    return Rule("r", "ENCRYPT", "WRITEREAD", frozenset({"PII"}), "k", "domainRules", "TRANSFORM", "", "", "")


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("a.b", "a.b", True), ("a.b", "a.bc", False), ("*.b", "a.b", True), ("*.b", "a.x.b", False),
        ("**.b", "a.x.b", True), ("**", "", True), ("a?", "ab", True), ("a?", "a.", False),
        ("a*", "a", True), ("", "a", False),
        ("a.*", "a.", True),
    ],
)  # fmt: skip
def test_a_star_is_one_name_and_two_are_any(pattern: str, path: str, fits: bool) -> None:
    assert (tags(pattern).rule(path, ()) is not None) == fits


@pytest.mark.parametrize("seed", range(20))
def test_patterns_are_those_of_a_regular_expression(seed: int) -> None:
    chance = random.Random(seed)
    instead = {"**": ".*", "*": "[^.]*", "?": "[^.]"}
    for _ in range(100):
        pattern = "".join(chance.choices(["a", "b", ".", "*", "**", "?"], k=chance.randrange(7)))
        path = "".join(chance.choices("ab.", k=chance.randrange(8)))
        parts = re.split(r"(\*\*|\*|\?)", pattern)
        expected = re.fullmatch("".join(instead.get(part) or re.escape(part) for part in parts), path)
        assert (tags(pattern).rule(path, ()) is not None) == (expected is not None), (pattern, path)


def test_a_pattern_of_a_hostile_registry_costs_milliseconds() -> None:
    """A regular expression takes longer than a life."""
    begun = time.process_time()
    assert tags("**a" * 30 + "b").rule("a" * 2000, ()) is None
    assert time.process_time() - begun < 5
