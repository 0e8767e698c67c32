"""What a leader is told of the partitions it deals out: a broker's wrong numbers are passed over."""

from __future__ import annotations

import pytest

from kcli.client import Client
from kcli.consumer.subscription import Interest
from kcli.proto.messages.metadata import MetadataResponse
from kcli.proto.session import Received, ServerSession
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap


@pytest.mark.parametrize("wrong", [-1, 3, 2**31 - 1])
async def test_a_partition_number_beyond_the_count_makes_no_long_list(
    wrong: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    respond = ServerSession.respond

    def lying(self: ServerSession, to: Received, response: object, version: int | None = None) -> object:
        for topic in response.topics if isinstance(response, MetadataResponse) else ():
            topic.partitions[-1].partition_index = wrong
        return respond(self, to, response, version)  # type: ignore[arg-type]

    with SandboxThread(topics={"t": 3}) as sandbox:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client:
            monkeypatch.setattr(ServerSession, "respond", lying)
            layout = await Interest(client.cluster, ["t"]).layout(["t"], with_racks=False)
    assert layout == {"t": [(), (), ()]}
