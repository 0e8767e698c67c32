"""The table of error codes reads well, and is Kafka's where it has to be."""

from __future__ import annotations

import re

from kcli import codes
from kcli.codes import ErrorCode
from kcli.errors import BrokerError
from tests.each import each

ROWS = [row for row in vars(codes).values() if isinstance(row, ErrorCode)]


def test_every_number_of_kafka_4_4_is_there_once() -> None:
    assert sorted(row.number for row in ROWS) == list(range(-1, 137))
    assert all(codes.of(row.number) is row for row in ROWS)
    assert all(vars(codes)[row.name] is row for row in ROWS)


@each("row", ROWS, ids=lambda row: row.name)
def test_a_sentence_fits_behind_a_name(row: ErrorCode) -> None:
    assert row.text[0].islower()
    assert row.text[-1] not in ".!"
    assert len(row.text) <= 110
    assert not re.search(r"\bplease\b|\bthe requested\b|  ", row.text)
    assert row.name not in row.text


def test_no_two_codes_say_the_same() -> None:
    assert len({row.text for row in ROWS}) == len(ROWS)


def test_B13_a_number_nobody_knows_keeps_its_number() -> None:
    row = codes.of(9999)
    assert (row.number, row.name, row.retriable) == (9999, "UNKNOWN(9999)", False)
    assert "9999" in row.text


def test_the_name_of_a_code_is_said_once() -> None:
    error = BrokerError(codes.NON_EMPTY_GROUP, "billing", "it has members (NON_EMPTY_GROUP)")
    assert str(error) == "billing: it has members (NON_EMPTY_GROUP)"
    assert str(BrokerError(codes.NON_EMPTY_GROUP, "billing")).count("NON_EMPTY_GROUP") == 1
