"""Topics: described without being created, hidden when internal, created and deleted with patience."""

from __future__ import annotations

from typing import Any

import pytest

from kcli.admin.configs import topic_configs
from kcli.admin.topics.topics import (
    Created,
    NewTopic,
    Topic,
    create_topics,
    delete_topics,
    describe_topics,
    wait_for_topics,
)
from kcli.asking.leaders import TopicMissing
from kcli.errors import BrokerError, DeadlineExceeded
from tests.admin.tiny import Tiny, TinyBroker


@pytest.fixture
def tiny() -> Tiny:
    tiny = Tiny(brokers=2)
    tiny.topic("orders", (0, 9, 9), (0, 9, 9))
    tiny.topic("__consumer_offsets", (0, 9, 9))
    return tiny


async def test_C20_internal_topics_are_hidden_unless_asked_for(tiny: Tiny) -> None:
    assert list(await describe_topics(tiny, internal=False)) == ["orders"]
    assert list(await describe_topics(tiny)) == ["__consumer_offsets", "orders"]
    assert list(await describe_topics(tiny, ["__consumer_offsets"], internal=False)) == ["__consumer_offsets"]


async def test_C3_a_typo_is_missing_and_never_created_and_no_name_is_not_all(tiny: Tiny) -> None:
    found = await describe_topics(tiny, ["ordres", "orders"])
    assert isinstance(found["ordres"], TopicMissing)
    assert isinstance(found["orders"], Topic)
    assert not any(request.allow_auto_topic_creation for _, request in tiny.asked)
    assert await describe_topics(tiny, []) == {}


async def test_C18_not_controller_is_asked_again(tiny: Tiny) -> None:
    tiny.once = {"CreateTopics": [41]}
    done = await create_topics(tiny, [NewTopic(topic="new", partitions=3)])
    assert isinstance(done["new"], Created)
    assert tiny.count()["CreateTopics"] == 2


async def test_a_dry_run_creates_nothing_and_an_existing_topic_says_so(tiny: Tiny) -> None:
    done = await create_topics(tiny, [NewTopic(topic="new"), NewTopic(topic="orders")], dry_run=True)
    assert isinstance(done["new"], Created)
    assert isinstance(done["orders"], BrokerError)
    assert "new" not in tiny.topic_partitions


async def test_delete_tells_what_was_not_there(tiny: Tiny) -> None:
    done = await delete_topics(tiny, ["orders", "nope"])
    assert done["orders"] is True
    assert isinstance(done["nope"], TopicMissing)


async def test_C19_wait_returns_when_every_broker_knows_a_leader_for_each_partition(tiny: Tiny) -> None:
    rounds = 0
    answer = TinyBroker._Metadata

    def late(request: Any) -> Any:
        nonlocal rounds
        rounds += 1
        made = answer(tiny.brokers[2], request)
        if rounds < 3:
            made.topics[0].partitions[1].leader_id = -1
        return made

    tiny.brokers[2]._Metadata = late  # type: ignore[method-assign]
    await wait_for_topics(tiny, ["orders"], timeout=5)
    assert rounds == 3


async def test_C19_wait_gives_up_with_what_is_missing(tiny: Tiny) -> None:
    with pytest.raises(DeadlineExceeded, match=r"nope: not ready on every broker after 0\.05 s"):
        await wait_for_topics(tiny, ["orders", "nope"], timeout=0.05)
    await wait_for_topics(tiny, ["nope"], gone=True, timeout=0.05)


async def test_only_configs_set_on_the_topic_are_shown(tiny: Tiny) -> None:
    assert await topic_configs(tiny, ["orders"]) == {"orders": {"cleanup.policy": "compact"}}
