"""Topics with figures: how often the cluster is asked, and which answers a rate is of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from kcli.admin.topics import stats
from kcli.admin.topics.stats import BACK, TopicLooks
from kcli.asking.offsets import list_offsets
from kcli.client import Client
from kcli.proto.messages.metadata import MetadataRequest
from kcli.sandbox.sandbox import Sandbox
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

if TYPE_CHECKING:
    import pytest


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


async def test_rates_of_the_minute_before_an_answer_are_of_its_ends_also_when_a_newer_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        Sandbox(topics={"orders": 1, "payments": 1}) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap))) as client,
        client.producer(ProducerSettings()) as producer,
    ):
        looks = TopicLooks()

        async def meanwhile(newer: list[str], cluster: Any, wanted: Any) -> Any:
            """The answer, while another refresh ends, which is of the topics `newer`."""
            answers = await list_offsets(cluster, wanted)
            monkeypatch.setattr(stats, "list_offsets", list_offsets)
            await producer.send("orders", b"later")
            await producer.flush()
            await looks.look(client.cluster, newer)
            return answers

        for _ in range(30):
            await producer.send("orders", b"x")
        await producer.flush()
        for newer in (["payments"], ["orders"]):
            rows = await looks.look(client.cluster)
            written = rows[0].records
            monkeypatch.setattr(stats, "list_offsets", partial(meanwhile, newer))
            rates = await looks.rates_before(client.cluster, [row.topic for row in rows])
            assert rates["orders"] == (written or 0) / BACK[0]
