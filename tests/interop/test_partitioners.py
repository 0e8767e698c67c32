"""Each partitioner puts keys where librdkafka's of the same name does (D11)."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer as ConfluentProducer

from kcli.producer.intake.placement import Partitioner
from kcli.sandbox.thread import SandboxThread

KEYS = [b"%d" % n for n in range(50)] + [b"a", "größe".encode(), b"\x00\xff", b"x" * 200]


@pytest.mark.parametrize(
    "name", ["consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random"]
)
def test_D11_librdkafka_puts_keys_in_the_same_partitions(name: str) -> None:
    with SandboxThread(topics={"t": 11}) as sandbox:
        placed: dict[bytes | None, int | None] = {}
        stranger = ConfluentProducer({"bootstrap.servers": sandbox.bootstrap, "partitioner": name})
        for key in KEYS:
            stranger.produce(
                "t", b"v", key, callback=lambda error, message: placed.update({message.key(): message.partition()})
            )
        assert stranger.flush(30) == 0
    ours = Partitioner(name, lambda partition: True)
    assert placed == {key: ours.of(key, range(11)) for key in KEYS}
