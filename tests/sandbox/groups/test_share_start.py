"""Where a share group begins (share.auto.offset.reset)."""

from __future__ import annotations

import time

import pytest

from kcli.sandbox import Sandbox
from tests.sandbox.client import Peer, batch

HOUR = 3_600_000


@pytest.mark.parametrize(
    ("reset", "first"),
    [("earliest", 0), ("latest", 2), ("by_duration:PT1H", 1), ("by_duration:PT3H", 0), ("by_duration:PT0S", 2)],
)
async def test_a_share_group_begins_where_its_config_says(reset: str, first: int) -> None:
    now = int(time.time() * 1000)
    async with Sandbox(topics={"t": 1}) as sandbox, Peer(sandbox) as peer:
        for at in (now - 2 * HOUR, now - HOUR // 2):
            assert (await peer.produce(batch(timestamp=at))).error_code == 0
        groups = sandbox.cluster.groups
        groups.configure("g", groups.configs.altered("g", [("share.auto.offset.reset", 0, reset)]))
        assert groups.sharing("g").partition(sandbox.topics.partition("t", 0)).start == first
