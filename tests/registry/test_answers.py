"""Any JSON is an answer or a ValueError, and whatever was read can be written again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcli.registry import answers
from kcli.schemas import Schema
from kcli.text.json_object import whole, whole_numbers

READERS: list[Callable[[Any], object]] = [
    answers.schema_of, answers.schemas_of, answers.verdict_of, answers.uses_of, answers.context_ids_of,
    answers.level_of, answers.subjects_of, answers.texts, answers.mode_of, answers.id_of, answers.version_of,
    whole, whole_numbers,
    lambda value: answers.registered_of(value, Schema()),
]  # fmt: skip
NAMES = [
    *answers.READ,
    *answers.PLACED,
    "name",
    "is_compatible",
    "messages",
    "reason",
    "mode",
    "compatibilityLevel",
    "x",
]
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=5),
    st.sampled_from([2**31, 2**63, -(2**70), 1.5, float("nan"), "", "AVRO", "\ud800", "JSON", "a"]),
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=8)),
    max_leaves=25,
)
REFERENCES = st.lists(st.fixed_dictionaries({"name": LEAVES, "subject": LEAVES, "version": LEAVES}), max_size=2)
ROWS = st.fixed_dictionaries(
    {"schema": st.one_of(st.text(max_size=5), LEAVES)},
    optional={
        "schemaType": st.one_of(st.sampled_from(["AVRO", "JSON", "PROTOBUF"]), LEAVES), "references": REFERENCES,
        "id": LEAVES, "version": LEAVES, "subject": LEAVES, "guid": LEAVES, "metadata": VALUES, "ruleSet": VALUES,
        "extra": VALUES,
    },
)  # fmt: skip


@given(st.one_of(VALUES, ROWS, st.lists(ROWS, max_size=2)))
def test_any_json_is_an_answer_or_a_value_error(value: object) -> None:
    for read in READERS:
        try:
            read(value)
        except ValueError:
            continue


@given(ROWS)
def test_what_was_read_can_be_sent_and_comes_back_the_same(row: object) -> None:
    try:
        schema = answers.schema_of(row)
    except ValueError:
        return
    hash(schema)
    sent = json.dumps(answers.document(schema, imported=schema.id >= 0)).encode()
    again = answers.schema_of(json.loads(sent) | {"guid": schema.guid, "subject": schema.subject})
    assert again.replace(id=schema.id, version=schema.version) == schema


def test_a_number_of_a_registry_stays_exact() -> None:
    found = answers.schema_of({"schema": "x", "metadata": {"a": 12345678901234567890}})
    assert json.loads(found.metadata) == {"a": 12345678901234567890}
    for number in (1e400, float("nan")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            answers.schema_of({"schema": "x", "other": number})


@pytest.mark.parametrize("name", ["ruleSet", "ruleset"])
def test_both_spellings_of_the_rule_set(name: str) -> None:
    assert answers.schema_of({"schema": "x", name: {"a": 1}}).rule_set == '{"a": 1}'
    assert answers.schema_of({"schema": "x", name: None}).rule_set == ""
