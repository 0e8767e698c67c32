"""Which broker is named as the controller: the leader of the quorum, with ZooKeeper what Metadata says, or none."""

from __future__ import annotations

import asyncio

import pytest

from kcli import codes
from kcli.admin.cluster import quorum
from kcli.admin.cluster.quorum import Quorum, controller_of
from kcli.errors import BrokerError, ConnectError, UnsupportedVersion
from tests.admin.tiny import Tiny

RANDOM = 7


@pytest.mark.parametrize(
    ("answer", "controller"),
    [
        (Quorum(leader=3), 3),
        (Quorum(), -1),
        (UnsupportedVersion("DescribeQuorum: no version in common"), RANDOM),
        (BrokerError(codes.CLUSTER_AUTHORIZATION_FAILED), -1),
        (ConnectError("broker 1 is down"), -1),
        (None, -1),
    ],
)
async def test_the_controller_is_the_leader_of_the_quorum_or_unknown(
    monkeypatch: pytest.MonkeyPatch, answer: Quorum | Exception | None, controller: int
) -> None:
    async def describe_quorum(_: object) -> Quorum:
        if answer is None:
            await asyncio.sleep(60)
        if isinstance(answer, Quorum):
            return answer
        raise answer or AssertionError

    monkeypatch.setattr(quorum, "PATIENCE", 0.05)
    monkeypatch.setattr(quorum, "describe_quorum", describe_quorum)
    assert await controller_of(Tiny(), RANDOM) == controller  # type: ignore[arg-type]
