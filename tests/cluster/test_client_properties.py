"""`Client({"bootstrap.servers": …})`: Kafka's property names in a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kcli

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread


def test_properties_are_the_defaults_of_what_a_client_makes(sandbox: SandboxThread) -> None:
    given = {
        "bootstrap.servers": sandbox.bootstrap, "client.id": "billing", "linger.ms": 7, "compression.type": "zstd",
        "group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False, "max.poll.interval.ms": "10000",
    }  # fmt: skip
    with kcli.SyncClient(given) as kafka:
        kafka.admin.create_topics([kcli.NewTopic(topic="rows")])
        with kafka.producer() as producer:
            assert producer._producer._settings.linger == 0.007
            producer.send_and_wait("rows", b"x")
        with kafka.producer(kcli.ProducerSettings()) as producer:
            assert producer._producer._settings.linger == 0.005, "settings that are given go before them"
        with kafka.consumer("rows") as consumer:
            assert next(consumer).value == b"x"
            assert consumer.group_metadata().group == "g"
            members = kafka.admin.describe_groups(["g"]).check()["g"].members
        assert [member.client_id for member in members] == ["billing"]
        assert kafka.admin.committed(["g"]).check() == {"g": {}}, "enable.auto.commit is false"
        with kafka.consumer("rows", group="other") as consumer:
            assert consumer.group_metadata().group == "other"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "property bootstrap.servers is missing"),
        ({"bootstrap.servers": "http://x"}, "property bootstrap.servers: http://x is the address of a web server"),
        (
            {"bootstrap.servers": "x", "lingr.ms": 1},
            "property lingr.ms: unknown property lingr.ms; did you mean linger.ms?",
        ),
        ({"bootstrap.servers": "x", "linger.ms": "soon"}, "property linger.ms: "),
        ({"bootstrap.servers": "x", "acks": 7}, "property acks: acks "),
    ],
)
def test_wrong_properties_are_told(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(kcli.UsageError) as raised:
        kcli.Client(given)
    assert str(raised.value).startswith(sentence)


def test_a_property_without_effect_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    kcli.Client(
        {"bootstrap.servers": "x", "key.deserializer": "org.apache.kafka.common.serialization.StringDeserializer"}
    )
    assert "key.deserializer has no effect" in caplog.text
