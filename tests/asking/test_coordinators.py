"""Where groups live: many keys in one request, one for each before Kafka 3.0, and errors beside the good answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kcli import codes
from kcli.asking.coordinators import GROUP, Coordinators, coordinators_of
from kcli.client import Client
from kcli.errors import BrokerError, KcliError
from kcli.model import Group, Node
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from kcli.settings import ClientSettings, parse_bootstrap
from tests.fakes.fleet import Fleet
from tests.fakes.scripted import SPOKEN
from tests.ports import free_port

OLD = {**SPOKEN, 10: (0, 3)}


@pytest.mark.parametrize(("spoken", "requests"), [(SPOKEN, 1), (OLD, 3)])
async def test_C15_keys_are_looked_up_together_where_the_broker_can(spoken: dict[int, Any], requests: int) -> None:
    async with Fleet(2, spoken=spoken) as fleet:
        fleet.coordinators = {"a": 1, "b": 2, "c": 2}
        found = await coordinators_of(fleet.cluster(), "abc", GROUP)
        assert {key: node.id for key, node in found.items() if isinstance(node, Node)} == {"a": 1, "b": 2, "c": 2}
        assert len(fleet.asked("FindCoordinator")) == requests


@pytest.mark.parametrize("spoken", [SPOKEN, OLD])
async def test_C15_a_final_error_is_the_keys_own_and_one_that_passes_is_asked_again(spoken: dict[int, Any]) -> None:
    async with Fleet(1, spoken=spoken) as fleet:
        trouble = {"denied": [codes.GROUP_AUTHORIZATION_FAILED], "loading": [codes.COORDINATOR_NOT_AVAILABLE]}

        def answer(request: Any) -> FindCoordinatorResponse:
            sound = fleet.coordinator(request)
            rows: list[Any] = sound.coordinators or [sound]
            for key, row in zip(request.coordinator_keys or [request.key], rows, strict=True):
                waiting = trouble.get(key, [])
                row.error_code = (waiting[0] if key == "denied" else waiting.pop()).number if waiting else 0
                row.error_message = "the broker's words" if row.error_code else None
            return sound

        fleet.brokers[0].sound["FindCoordinator"] = answer
        found = await coordinators_of(fleet.cluster(), ["good", "denied", "loading"], GROUP)
        assert isinstance(found["good"], Node)
        assert isinstance(found["loading"], Node)
        assert str(found["denied"]) == "not authorized: DESCRIBE on group denied (GROUP_AUTHORIZATION_FAILED)"


@pytest.mark.parametrize("spoken", [SPOKEN, OLD])
async def test_C15_the_cluster_looks_up_one_key_in_both_shapes(spoken: dict[int, Any]) -> None:
    async with Fleet(2, spoken=spoken) as fleet:
        fleet.coordinators["g"] = 2
        cluster = fleet.cluster(deadline=0.2)
        assert (await cluster.coordinator(Group("g"))).node_id == 2
        fleet.brokers[0].sound["FindCoordinator"] = fleet.brokers[1].sound["FindCoordinator"] = lambda request: (
            FindCoordinatorResponse(coordinators=[Coordinator(key="another", node_id=1, host="h", port=1)])
            if request.coordinator_keys
            else FindCoordinatorResponse(error_code=codes.COORDINATOR_NOT_AVAILABLE.number)
        )
        with pytest.raises(BrokerError, match=r"group h: .*COORDINATOR_NOT_AVAILABLE"):
            await cluster.coordinator(Group("h"))


async def test_a_cluster_that_was_never_reached_fails_at_once() -> None:
    """Commands of named groups once asked for their coordinator for as long as one may move."""

    async def ask(*_: object) -> dict[str, str | KcliError]:
        raise AssertionError

    own = ClientSettings(bootstrap=parse_bootstrap(f"127.0.0.1:{free_port()}"), wait_for_cluster=False)
    async with Client(own) as client:
        with pytest.raises(KcliError, match="connection refused"):
            await asyncio.wait_for(Coordinators(client.cluster).ask(["g"], ask), 5)
