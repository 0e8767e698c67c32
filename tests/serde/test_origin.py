"""Headers of dead letters, byte for byte as their frameworks write them."""

from __future__ import annotations

import pytest

from kcli.serde.origin import ATTEMPTS, Origins, attempts_of, with_attempts

OWN = [("trace", b"1"), ("kafka_own", None)]
CONNECT = [
    ("__connect.errors.topic", b"orders"),
    ("__connect.errors.partition", b"2"),
    ("__connect.errors.offset", b"77"),
    ("__connect.errors.connector.name", b"sink"),
    ("__connect.errors.task.id", b"0"),
    ("__connect.errors.stage", b"VALUE_CONVERTER"),
    ("__connect.errors.class.name", b"org.apache.kafka.connect.json.JsonConverter"),
    ("__connect.errors.exception.class.name", b"org.apache.kafka.connect.errors.DataException"),
    ("__connect.errors.exception.message", b"no JSON"),
    ("__connect.errors.exception.stacktrace", b"at ..."),
]
SPRING = [
    ("kafka_dlt-original-topic", b"orders"),
    ("kafka_dlt-original-partition", b"\0\0\0\2"),
    ("kafka_dlt-original-offset", b"\0\0\0\0\0\0\0\x4d"),
    ("kafka_dlt-original-timestamp", b"\0\0\1\x8b\xcf\xe5\x68\0"),
    ("kafka_dlt-original-timestamp-type", b"CreateTime"),
    ("kafka_dlt-original-consumer-group", b"billing"),
    ("kafka_dlt-exception-fqcn", b"java.lang.IllegalStateException"),
    ("kafka_dlt-exception-message", b"no"),
    ("kafka_dlt-exception-stacktrace", b"at ..."),
]
STREAMS = [
    ("__streams.errors.exception", b"java.lang.Exception"),
    ("__streams.errors.message", b"no"),
    ("__streams.errors.stacktrace", b"at ..."),
    ("__streams.errors.topic", b"orders"),
    ("__streams.errors.partition", b"2"),
    ("__streams.errors.offset", b"77"),
]
CLOUD = [
    ("x-original-topic", b"orders"),
    ("x-original-partition", b"\0\0\0\2"),
    ("x-exception-message", b"no"),
]
SMALLRYE = [
    ("dead-letter-reason", b"no"),
    ("dead-letter-topic", b"orders"),
    ("dead-letter-partition", b"2"),
]
SHARE_GROUP = [
    ("__dlq.errors.topic", b"orders"),
    ("__dlq.errors.partition", b"2"),
    ("__dlq.errors.offset", b"77"),
    ("__dlq.errors.group", b"billing"),
]


@pytest.mark.parametrize(
    "written", [CONNECT, SPRING, STREAMS, CLOUD, SMALLRYE, SHARE_GROUP], ids=lambda rows: rows[0][0]
)
def test_origin_and_what_is_left_of_the_headers(written) -> None:
    origins = Origins()
    assert origins.of([*OWN, *written]) == ("orders", 2)
    assert origins.cleaned([*OWN, *written]) == OWN


def test_no_origin_and_names_of_ones_own() -> None:
    assert Origins().of(OWN) is None
    assert Origins().of([("__connect.errors.topic", None)]) is None
    own = Origins(["source"], ["source-partition"])
    headers = [*OWN, ("source", b"a"), ("source-partition", b"7"), *CONNECT]
    assert own.of(headers) == ("a", 7), "names of the command line go first"
    assert own.cleaned(headers) == OWN
    assert own.of([("source", b"a"), ("source-partition", b"x")]) == ("a", None)
    assert own.of([("source", b"a"), ("source-partition", b"\xff\xff\xff\xff")]) == ("a", None)


def test_the_first_origin_counts_where_a_record_went_through_several_hands() -> None:
    assert Origins().of([*SPRING, ("kafka_dlt-original-topic", b"orders-dlt")]) == ("orders", 2)


def test_a_strangers_prefix_stays() -> None:
    """x-original-… of a proxy is nobody's error without its family's topic header."""
    headers = [("x-original-host", b"a"), *CONNECT]
    assert Origins().cleaned(headers) == [("x-original-host", b"a")]


@pytest.mark.parametrize(("value", "attempts"), [(b"2", 2), (b"x", 0), (b"", 0), (None, 0), (b"9" * 30, 0)])
def test_attempts_are_counted_in_one_header(value, attempts) -> None:
    headers = [(ATTEMPTS, value), ("a", b"1")]
    assert attempts_of(headers) == attempts
    assert with_attempts(headers, attempts + 1) == [("a", b"1"), (ATTEMPTS, b"%d" % (attempts + 1))]
