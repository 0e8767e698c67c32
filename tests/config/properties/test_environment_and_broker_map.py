"""KCLI_*, and --broker-map."""

from __future__ import annotations

import pytest

from kcli.broker.connection.resolve import mapped
from kcli.config.properties.broker_map import pair
from kcli.config.properties.files import properties
from kcli.errors import UsageError
from kcli.model import Address


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("KCLI_")]:
        monkeypatch.delenv(name)


def test_a_variable_is_a_property(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLI_SASL_PASSWORD", "pw")
    monkeypatch.setenv("KCLI_LINGER_MS", "7")
    monkeypatch.setenv("KCLI_BOOTSTRAP", "x:1")
    assert properties() == [("KCLI_LINGER_MS", "linger.ms", "7"), ("KCLI_SASL_PASSWORD", "sasl.password", "pw")]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("KCLI_LINGER_MSS", "did you mean KCLI_LINGER_MS?"),
        ("KCLI_BOOTSTRAPS", "did you mean KCLI_BOOTSTRAP"),
        ("KCLI_SASL_MECHANISEM", "did you mean KCLI_SASL_MECHANISM"),
        ("KCLI_SSL_WHATEVER_THIS_IS", "unknown variable"),
    ],
)
def test_a_mistyped_one_is_refused(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "x")
    with pytest.raises(UsageError) as told:
        properties()
    assert says in str(told.value)


@pytest.mark.parametrize(
    "name", ["KCLI_PORT", "KCLI_SERVICE_HOST", "KCLI_PORT_9092_TCP_ADDR", "KCLI_PURE_PYTHON", "KCLI_SEED"]
)
def test_somebody_elses_is_left_alone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kubernetes sets such for a service called kcli."""
    monkeypatch.setenv(name, "tcp://10.0.0.1:9092")
    assert properties() == []


@pytest.mark.parametrize(
    ("rule", "address", "there"),
    [
        (("kafka-1:9092", "localhost:19092"), ("kafka-1", 9092), ("localhost", 19092)),
        (("kafka-1:9092", "localhost:19092"), ("kafka-1", 9093), ("kafka-1", 9093)),
        (("kafka-1:9092", "localhost:19092"), ("kafka-2", 9092), ("kafka-2", 9092)),
        (("Kafka-1", "localhost"), ("kafka-1", 9093), ("localhost", 9093)),
        (("kafka-1", "localhost:7"), ("kafka-1", 9093), ("localhost", 7)),
        (("[::1]:9092", "10.0.0.1:1"), ("::1", 9092), ("10.0.0.1", 1)),
        (("a:1", "[fe80::1]:2"), ("a", 1), ("fe80::1", 2)),
    ],
)
def test_where_to_connect_instead(rule: tuple[str, str], address: tuple[str, int], there: tuple[str, int]) -> None:
    assert mapped(Address(*address), [rule]) == Address(*there)


def test_the_first_rule_that_fits_counts() -> None:
    assert mapped(Address("a", 1), [("a:1", "b:2"), ("a", "c")]) == Address("b", 2)


@pytest.mark.parametrize("item", ["a", "a=", "=b", "a:x=b", "a=b:99999", "a b=c"])
def test_a_rule_that_is_none_is_refused(item: str) -> None:
    with pytest.raises(UsageError, match="--broker-map"):
        pair(item, "--broker-map")
