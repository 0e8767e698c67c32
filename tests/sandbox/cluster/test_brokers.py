"""Which broker lives, controls, coordinates; and a part that the cluster makes only when it is needed."""

from __future__ import annotations

import pytest

from kcli.errors import UsageError
from kcli.sandbox import Sandbox
from kcli.sandbox.cluster.brokers import GROUP, TRANSACTION


async def test_the_first_living_broker_controls_and_every_living_one_may_coordinate() -> None:
    async with Sandbox(brokers=2) as sandbox:
        brokers = sandbox.brokers
        assert (len(brokers), brokers.node_ids, brokers.controller_id) == (2, [1, 2], 1)
        await sandbox.faults.cluster.stop_broker(1)
        assert [broker.node_id for broker in brokers.living()] == [2]
        assert [broker.node_id for broker in brokers.fenced()] == [1]
        assert brokers.controller_id == 2
        assert brokers.coordinator("any") is brokers[1]
        brokers.moved[TRANSACTION]["any"] = 1  # which is down
        assert brokers.coordinator("any", TRANSACTION) is None
        assert brokers.coordinator("any", GROUP) is brokers[1]
        await sandbox.faults.cluster.start_broker(1)
        assert brokers.coordinator("any", TRANSACTION) is brokers.node(1)
        with pytest.raises(UsageError, match="unknown broker 7; known: 1, 2"):
            brokers.node(7)


async def test_coordinators_are_made_by_the_first_request_that_needs_them() -> None:
    async with Sandbox(topics={"t": 1}) as sandbox:
        cluster = sandbox.cluster
        assert (cluster._groups, cluster._transactions, cluster._quotas, cluster._moves) == (None, None, None, None)
        assert not cluster.limited
        assert cluster.groups is cluster.groups
        sandbox.topics.delete(sandbox.topics.by_name["t"])  # the coordinator hears of it, and knows nothing of it
        assert cluster.groups.offsets.by_group == {}
