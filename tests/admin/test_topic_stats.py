"""Topics with figures: how often the cluster is asked."""

from __future__ import annotations

from kcli.admin.topics.stats import TopicLooks
from kcli.client import Client
from kcli.proto.messages.metadata import MetadataRequest
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, parse_bootstrap


async def test_the_metadata_of_all_topics_is_asked_for_once_a_refresh_and_names_the_leaders() -> None:
    names = {f"topic-{number}": 3 for number in range(20)}
    async with (
        Sandbox(topics=names) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
    ):
        await client.cluster.nodes()
        looks = TopicLooks()
        for _ in range(2):
            before = sandbox.seen[MetadataRequest.api_key]
            rows = await looks.look(client.cluster)
            assert sandbox.seen[MetadataRequest.api_key] == before + 1
        assert [row.topic.topic for row in rows] == sorted(names)
        assert {(row.records, row.rate, row.problem) for row in rows} == {(0, 0.0, "")}
