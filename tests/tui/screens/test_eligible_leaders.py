"""The page of a topic shows the replicas that may lead without being in sync (KIP-966), as brokers report them."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.proto.messages.describe_topic_partitions import DescribeTopicPartitionsResponsePartition as Partition
from kcli.sandbox.answers import describe_topic_partitions
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from tests.tui.conftest import shows, until, visit


@pytest.mark.parametrize(
    ("elr", "last", "remark"),
    [
        ([2], [], "2 (no leader; broker 2 has all committed records: start it; behind: 2; eligible: 2)"),
        ([], [2], "2 (no leader, and no replica is known to have all committed records; broker 2 had them last; "
                  "behind: 2; eligible last: 2)"),
        ([], [], "2 (no leader, and no replica is known to have all committed records; behind: 2)"),
    ],
)  # fmt: skip
async def test_replicas_that_may_lead_are_named(
    monkeypatch: pytest.MonkeyPatch, elr: list[int], last: list[int], remark: str
) -> None:
    def answered(**known: Any) -> Partition:
        return Partition(**{**known, "eligible_leader_replicas": elr, "last_known_elr": last})

    monkeypatch.setattr(describe_topic_partitions, "DescribeTopicPartitionsResponsePartition", answered)
    with SandboxThread(brokers=2) as sandbox:
        sandbox.call(lambda inside: inside.topics.create("orders", assignments=[[2]]))
        sandbox.faults.cluster.stop_broker(2)
        app = Dashboard(LiveSession(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap)), interval=0.5))
        async with app.run_test(size=(300, 40)) as pilot:
            await until(pilot, lambda: app.state.snapshot is not None)
            await visit(pilot, "topic orders")
            assert remark in await shows(pilot, "behind: 2")
            await pilot.resize_terminal(120, 40)
            await shows(pilot, remark[:50])
