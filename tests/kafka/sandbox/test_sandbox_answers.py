"""The scenes that the sandbox is tested with, on a real Apache Kafka: it answers with the same error codes."""

from __future__ import annotations

import uuid

import pytest

from tests.kafka.cluster import Kafka
from tests.sandbox.client import Peer
from tests.sandbox.scenes import SCENES, Scene


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_a_real_kafka_answers_odd_requests_as_the_sandbox_does(kafka: Kafka, scene: Scene) -> None:
    async with Peer(kafka.nodes[0].client_port) as peer:
        rows = await scene(peer, uuid.uuid4().hex[:8])
    assert [(what, came.name) for what, _, came in rows] == [(what, expected.name) for what, expected, _ in rows]
