"""A broker: lanes, reconnecting, idle connections, throttling, cancellation and the end (B8, B21-B30)."""

from __future__ import annotations

import asyncio
import gc
import itertools
import socket
import threading
import time
import warnings
from typing import Any

import pytest

from kcli.backoff import Backoff
from kcli.broker import connector
from kcli.broker.broker import NetworkBroker
from kcli.errors import Closed, ConnectError, KcliError
from kcli.model import Address, Lane
from kcli.proto.messages.heartbeat import HeartbeatResponse
from kcli.proto.messages.join_group import JoinGroupRequest, JoinGroupResponse
from tests.fakes.scripted import Scripted, Step
from tests.ports import free_port

from .peers import answer, beat, lost, pair, question, settings


async def test_B8_a_join_that_is_held_stands_in_nobodys_way() -> None:
    async with pair() as (far, near):
        gate = asyncio.Event()
        far.script["JoinGroup"].append(Step(until=gate))
        far.sound["JoinGroup"] = lambda request: JoinGroupResponse(protocol_name="")
        far.sound["Heartbeat"] = lambda request: HeartbeatResponse()
        joining = asyncio.create_task(near.ask(JoinGroupRequest(group_id="g")))
        await far.saw(1)
        await asyncio.wait_for(near.ask(beat()), 3)
        await asyncio.wait_for(near.ask(JoinGroupRequest(group_id="g"), lane="join-2"), 3)  # another member's
        gate.set()
        await joining
        assert len(far.links) == 3


def test_B21_backoff_doubles_with_jitter_up_to_its_maximum() -> None:
    backoff = Backoff(0.05, 1.0)
    waits = [backoff.next() for _ in range(8)]
    for n, wait in enumerate(waits):
        middle = min(0.05 * 2**n, 1.0)
        assert 0.8 * middle <= wait <= 1.2001 * middle  # 0.8 + 0.4 is a little more than 1.2
    backoff.reset()
    assert backoff.next() <= 0.0601
    assert len({Backoff(0.05, 1.0).next() for _ in range(100)}) > 10  # a hundred clients do not align


async def test_B21_accepting_is_not_enough_the_intervals_grow_until_a_broker_answers() -> None:
    async with pair(reconnect_backoff=0.01, reconnect_backoff_max=1.0) as (far, near):
        far.refuses = 6
        for _ in range(2):
            with pytest.raises(ConnectError):
                await answer(near, 1)
        assert await answer(near, 1) == "1"
        gaps = [b - a for a, b in itertools.pairwise(far.accepted)]
        assert len(gaps) == 6
        assert gaps[5] > 4 * gaps[0]
        far.links[-1].drop()
        await lost(near)
        far.refuses = 1
        assert await answer(near, 2) == "2"
        assert far.accepted[-1] - far.accepted[-2] < gaps[5] / 2  # it had answered, so the backoff began anew


async def test_B22_a_peer_that_accepts_and_says_nothing_costs_the_connect_budget_once() -> None:
    async with pair(connect_timeout=0.1, connect_timeout_max=0.4) as (far, near):
        far.script["ApiVersions"].extend([Step(silent=True)] * 2)
        begin = time.monotonic()
        done = await asyncio.gather(*(answer(near, n) for n in range(20)), return_exceptions=True)
        assert 0.08 < time.monotonic() - begin < 1.5  # twenty callers wait once
        assert all(isinstance(one, ConnectError) and not one.sent for one in done)
        assert "accepts connections but does not answer" in str(done[0])
        begin = time.monotonic()
        with pytest.raises(ConnectError):
            await answer(near, 1)
        assert time.monotonic() - begin > 0.18  # the budget grows (KIP-601)
        assert await answer(near, 2) == "2"


async def test_B22_a_name_that_takes_too_long_is_over_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(host: str, port: int) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(connector, "resolve", never)
    near = NetworkBroker(Address("slow.test", 9092), -1, settings(connect_timeout=0.05))
    with pytest.raises(ConnectError, match=r"slow\.test could not be resolved in time"):
        await answer(near, 1)
    await near.close()


async def test_B23_A4_16_a_name_with_a_dead_and_a_live_address_works_the_first_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0

    async with pair() as (far, near):

        async def both(host: str, port: int) -> Any:
            nonlocal asked
            asked += 1
            return [(socket.AF_INET, ("127.0.0.1", free_port())), (socket.AF_INET, ("127.0.0.1", far.port))]

        monkeypatch.setattr(connector, "resolve", both)
        assert await answer(near, 1) == "1"
        far.links[0].drop()
        await lost(near)
        assert await answer(near, 2) == "2"
        assert asked == 2  # resolved again after a connection was lost


async def test_B23_a_silent_address_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        first.connect(full.getsockname())
        others = [socket.socket() for _ in range(4)]  # more than the queue holds: the next one gets no answer
        for other in others:
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        async with pair(connect_timeout=1.0) as (far, near):

            async def both(host: str, port: int) -> Any:
                return [(socket.AF_INET, full.getsockname()), (socket.AF_INET, ("127.0.0.1", far.port))]

            monkeypatch.setattr(connector, "resolve", both)
            assert await answer(near, 1) == "1"
        for other in others:
            other.close()


async def test_B23_a_name_that_cannot_be_one_is_an_error_like_any_other() -> None:
    for host in ("a..b", "x" * 70, "no.such.name.invalid"):
        near = NetworkBroker(Address(host, 9092), -1, settings())
        with pytest.raises(ConnectError, match="does not resolve"):
            await answer(near, 1)
        await near.close()


def test_B30_a_resolver_that_hangs_does_not_hold_up_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: let_go.wait(10) and [])

    async def give_up() -> None:
        near = NetworkBroker(Address("slow.test", 9092), -1, settings(connect_timeout=0.05))
        with pytest.raises(ConnectError, match=r"slow\.test could not be resolved in time"):
            await answer(near, 1)
        await near.close()

    begin = time.monotonic()
    asyncio.run(give_up())
    assert time.monotonic() - begin < 2  # asyncio.run joins the threads of its own pool
    let_go.set()
    for thread in threading.enumerate():
        if thread.name == "resolve slow.test":
            thread.join(2)


async def test_B24_a_connection_closed_while_idle_is_silent_and_the_next_request_succeeds() -> None:
    async with pair() as (far, near):
        assert await answer(near, 1) == "1"
        far.links[0].drop()
        await lost(near)
        assert not near.connected
        assert not near.backing_off
        assert await answer(near, 2) == "2"


async def test_B24_a_close_not_yet_seen_is_seen_before_the_request_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.broker.connection.connection.QUIET", 0.0)
    async with pair() as (far, near):
        assert await answer(near, 1) == "1"
        far.links[0].drop()
        await asyncio.sleep(0)  # the far end has closed; our end has not looked
        await asyncio.sleep(0)
        assert near.connected
        assert await answer(near, 2) == "2"


async def test_B24_a_request_that_was_written_is_sent_and_not_repeated() -> None:
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(reset=True))
        with pytest.raises(ConnectError) as caught:
            await answer(near, 1)
        assert caught.value.sent
        assert len(far.seen) == 1


async def test_B24_idle_connections_are_closed_and_those_in_flight_are_not() -> None:
    async with pair(idle_timeout=0.05) as (far, near):
        far.script["FindCoordinator"].append(Step(delay=0.2))
        assert await answer(near, 1) == "1"
        assert len(far.links) == 1
        await asyncio.sleep(0.15)
        assert not near.connected
        assert await answer(near, 2) == "2"


async def test_B25_a_throttled_connection_is_quiet_and_others_are_not() -> None:
    async with pair() as (far, near), pair() as (_, other):
        far.sound["JoinGroup"] = lambda request: JoinGroupResponse(protocol_name="")
        far.script["FindCoordinator"].append(Step(echo_with_throttle))
        await answer(near, 1)
        begin = time.monotonic()
        assert near.muted
        quiet = asyncio.create_task(answer(near, 2, timeout=0.05))  # the wait is not counted as time without answer
        assert await answer(other, 3) == "3"
        await near.ask(JoinGroupRequest(group_id="g"))  # another lane
        assert not quiet.done()
        assert await quiet == "2"
        assert time.monotonic() - begin >= 0.35
        assert not near.muted


def echo_with_throttle(request: Any) -> Any:
    from .peers import echo

    given = echo(request)
    given.throttle_time_ms = 400
    return given


async def test_B25_a_silence_of_days_is_heeded_until_the_deadline_of_a_request() -> None:
    async with pair() as (far, near):
        far.script["Heartbeat"].append(lambda request: HeartbeatResponse(throttle_time_ms=2**31 - 1))
        await near.ask(beat())
        assert near.long_silence == 2147483.647
        begin = time.monotonic()
        assert await answer(near, 2, timeout=0.4) == "2"
        assert time.monotonic() - begin >= 0.35
        assert not near.muted
        assert not near.long_silence


async def test_B25_a_shorter_silence_that_is_asked_for_meanwhile_hides_no_longer_one() -> None:
    async with pair() as (far, near):
        for silence in (2**31 - 1, 10):
            far.script["Heartbeat"].append(lambda request, ms=silence: HeartbeatResponse(throttle_time_ms=ms))
        await asyncio.gather(near.ask(beat()), near.ask(beat()))  # both are sent before the first answer comes
        assert near.long_silence == 2147483.647
        assert await asyncio.wait_for(answer(near, 3, timeout=0.4), 5) == "3"


async def test_B25_before_the_version_that_says_so_the_broker_has_waited_itself() -> None:
    async with pair() as (far, near):
        far.script["Heartbeat"].append(lambda request: HeartbeatResponse(throttle_time_ms=5000))
        await near.ask(beat(), max_version=1)
        assert not near.muted


async def test_B25_closing_does_not_wait_for_a_throttle() -> None:
    async with pair() as (far, near):
        far.script["Heartbeat"].append(lambda request: HeartbeatResponse(throttle_time_ms=60_000))
        await near.ask(beat())
        waiting = asyncio.create_task(near.ask(beat()))
        await asyncio.sleep(0.01)
        await near.close()
        with pytest.raises(Closed):
            await asyncio.wait_for(waiting, 10)


@pytest.mark.parametrize("step", range(1, 14))
async def test_B29_cancelled_at_any_point_nothing_is_lost(step: int) -> None:
    trouble: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: trouble.append(context))
    async with pair(max_in_flight=2) as (far, near):
        task = asyncio.create_task(near.ask(question(1), lane=Lane.PRODUCE))
        for _ in range(step):
            await asyncio.sleep(0 if step < 7 else 0.0005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await asyncio.wait_for(asyncio.gather(*(answer(near, n, lane=Lane.PRODUCE) for n in range(4))), 10) == [
            *"0123"
        ]
        connection: Any = near._lanes.open[Lane.PRODUCE]
        assert connection._slots.free == 2
        assert len(far.links) == 1
    gc.collect()
    assert not trouble


async def test_B29_the_one_who_began_to_connect_may_leave() -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].append(Step(delay=0.03))
        first, second = (asyncio.create_task(answer(near, n)) for n in (1, 2))
        await asyncio.sleep(0.01)
        first.cancel()
        assert await second == "2"
        assert len(far.links) == 1


async def test_B29_a_failed_attempt_that_nobody_waits_for_is_not_reported_by_the_loop() -> None:
    trouble: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: trouble.append(context))
    async with pair() as (far, near):
        far.script["ApiVersions"].append(Step(delay=0.02, raw=b"HTTP/1.1 400"))
        task = asyncio.create_task(answer(near, 1))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.04)
    gc.collect()
    assert not trouble


async def test_B30_close_twice_with_everything_down_is_quick_and_leaves_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        near = NetworkBroker(Address("127.0.0.1", free_port()), 1, settings())
        with pytest.raises(ConnectError, match="connection refused: nothing listens there"):
            await answer(near, 1)
        waiting = asyncio.create_task(answer(near, 2))
        await asyncio.wait_for(asyncio.gather(near.close(), near.close()), 10)
        with pytest.raises(KcliError):
            await waiting
        with pytest.raises(Closed):
            await answer(near, 3)
        gc.collect()
    assert [str(one.message) for one in caught if issubclass(one.category, ResourceWarning)] == []
    assert len(asyncio.all_tasks()) == 1


async def test_B30_closed_while_connecting_and_while_waiting_is_closed() -> None:
    async with Scripted() as far:
        far.script["ApiVersions"].append(Step(silent=True))
        near = NetworkBroker(Address(far.host, far.port), 1, settings())
        waiting = [asyncio.create_task(answer(near, n)) for n in range(3)]
        await asyncio.sleep(0.02)
        await near.close()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(one) for one in done] == [Closed] * 3
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(silent=True))
        asked = asyncio.create_task(answer(near, 1))
        await far.saw(1)
        await near.close()
        with pytest.raises(Closed):
            await asked


async def test_C2_an_advertised_address_that_cannot_be_reached_names_both() -> None:
    port = free_port()
    near = NetworkBroker(Address("127.0.0.1", port), 7, settings(bootstrap=(Address("seed.test", 9092),)))
    with pytest.raises(ConnectError) as caught:
        await answer(near, 1)
    assert f"broker 7 at 127.0.0.1:{port}: connection refused" in str(caught.value)
    assert "broker 7 advertises this address to clients of seed.test:9092" in str(caught.value)
    await near.close()
