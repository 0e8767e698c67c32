"""One connection: order, tombstones, slots, time limits, and all the ways a peer can misbehave (B1-B7, B14, B26)."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import pytest

from kcli.errors import ConnectError, DeadlineExceeded, EncodeError
from kcli.model import Lane
from kcli.proto.messages.find_coordinator import FindCoordinatorRequest
from kcli.proto.messages.produce import ProduceRequest, ProduceResponse
from tests.fakes.scripted import Step

from .peers import answer, pair, question


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "uses HTTP, not Kafka"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "uses TLS"),
        (b"\xff\xff\xff\xff", "does not speak Kafka"),
        (b"\x7f\xff\xff\xff", "over the limit"),
    ],
)
async def test_B1_a_peer_that_speaks_something_else_is_named(raw: bytes, says: str) -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].append(Step(raw=raw))
        with pytest.raises(ConnectError, match=says) as caught:
            await near.ask(question(1))
        assert not caught.value.sent  # our request had not been written: only the handshake was


async def test_B1_end_of_stream_as_the_first_answer_hints_at_tls() -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].extend([Step(reset=True)] * 3)
        with pytest.raises(ConnectError, match=r"expect TLS or SASL \(security.protocol\)") as caught:
            await near.ask(question(1))
        assert not caught.value.sent


async def test_B1_a_frame_may_come_byte_by_byte_and_two_may_come_at_once() -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].append(Step(byte_at_a_time=True))
        far.script["FindCoordinator"].append(Step(byte_at_a_time=True))
        assert await asyncio.gather(*(answer(near, n) for n in range(3))) == ["0", "1", "2"]


async def test_B1_half_a_frame_and_the_end_is_a_lost_connection() -> None:
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(drop_after=9))
        with pytest.raises(ConnectError, match="closed the connection") as caught:
            await answer(near, 1)
        assert caught.value.sent
        assert await answer(near, 2) == "2"


async def test_B3_a_wrong_correlation_id_ends_the_connection_and_all_on_it() -> None:
    async with pair() as (far, near):
        gate = asyncio.Event()
        far.script["FindCoordinator"].append(Step(until=gate, correlation_shift=1))
        both = [asyncio.create_task(answer(near, n)) for n in (1, 2)]
        await far.saw(1)
        gate.set()
        done = await asyncio.gather(*both, return_exceptions=True)
        assert [type(one) for one in done] == [ConnectError, ConnectError]
        assert all(one.sent for one in done if isinstance(one, ConnectError))
        assert await answer(near, 3) == "3"
        assert len(far.links) == 2


async def test_B4_A5_15_a_cancelled_caller_leaves_a_tombstone() -> None:
    async with pair() as (far, near):
        gate = asyncio.Event()
        far.script["FindCoordinator"].append(Step(until=gate))
        first, second, third = (asyncio.create_task(answer(near, n)) for n in (1, 2, 3))
        await far.saw(1)
        second.cancel()
        await asyncio.sleep(0)
        assert near.in_flight == 3
        gate.set()
        assert (await first, await third) == ("1", "3")
        assert near.in_flight == 0
        assert len(far.links) == 1


async def test_B5_asks_go_out_in_the_order_they_were_made_also_while_connecting() -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].append(Step(delay=0.03))
        tasks = []
        for n in range(20):
            tasks.append(asyncio.create_task(answer(near, n)))
            if n % 5 == 4:
                await asyncio.sleep(0.005)
        assert await asyncio.gather(*tasks) == [str(n) for n in range(20)]
        assert [one.request.coordinator_keys[0] for one in far.seen if one.request] == [str(n) for n in range(20)]
        assert [one.correlation_id for one in far.seen] == list(range(1, 21))
        assert len(far.links) == 1


async def test_B5_asks_without_answers_keep_their_place_in_the_order() -> None:
    async with pair() as (far, near):
        far.sound["Produce"] = lambda request: ProduceResponse()
        far.script["ApiVersions"].append(Step(delay=0.02))
        far.script["Produce"].extend(Step(silent=n % 2 == 1) for n in range(10))

        async def one(n: int) -> None:
            request = ProduceRequest(acks=n % 2 - 1 if n % 2 == 0 else 0, timeout_ms=n, topic_data=[])
            await (near.tell(request) if n % 2 else near.ask(request))

        await asyncio.gather(*(one(n) for n in range(10)))
        await far.saw(10)
        assert [one.request.timeout_ms for one in far.seen if one.request] == list(range(10))


async def test_B5_A4_25_A5_16_a_peer_that_stops_reading_holds_up_the_writers_and_then_loses_the_connection() -> None:
    async with pair(request_timeout=0.3, connect_timeout=0.2) as (far, near):
        assert await answer(near, "x") == "x"
        far.reading.clear()
        big = "k" * 30_000
        tasks = [asyncio.create_task(near.ask(question(f"{n}{big}"), timeout=0.3)) for n in range(400)]
        await asyncio.sleep(0.1)
        transport: Any = near._lanes.open[Lane.CONTROL]._transport
        assert transport.get_write_buffer_size() < 5 * 1024 * 1024  # of the 12 MB that wait
        done = await asyncio.gather(*tasks, return_exceptions=True)
        unsent = [one for one in done if isinstance(one, ConnectError) and not one.sent]
        sent = [one for one in done if isinstance(one, ConnectError | DeadlineExceeded) and one.sent]
        assert len(unsent) + len(sent) >= 399  # one may have been read before it stopped
        assert unsent
        assert sent


async def test_B6_time_counts_from_the_write_and_its_end_closes_the_connection() -> None:
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(silent=True))
        begin = time.monotonic()
        slow = asyncio.create_task(answer(near, 1, timeout=0.1))
        behind = asyncio.create_task(answer(near, 2, timeout=5))
        far.script["FindCoordinator"].append(Step(silent=True))
        with pytest.raises(DeadlineExceeded, match=r"FindCoordinator v6 #1 within 0\.1 s") as caught:
            await slow
        assert caught.value.sent
        with pytest.raises(ConnectError) as lost:
            await behind
        assert lost.value.sent
        assert 0.08 < time.monotonic() - begin < 2.5
        assert await answer(near, 3) == "3"
        assert len(far.links) == 2


async def test_B6_the_time_is_the_one_that_was_asked_for_and_not_twice_that() -> None:
    """Read off the clock that will ring, so a busy machine changes nothing; then it rings."""
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(silent=True))
        loop = asyncio.get_running_loop()
        begin = loop.time()
        slow = asyncio.create_task(answer(near, 1, timeout=1000))
        await far.saw(1)
        connection: Any = near._lanes.open[Lane.CONTROL]
        (waiter,) = connection._waiters
        connection._check()  # it rings for a request that was answered long ago
        due = connection._alarm.when()
        assert due == waiter.since + 1000
        assert begin + 1000 <= due <= loop.time() + 1000
        waiter.timeout = 999.9999  # what is left of a deadline
        connection._expire(waiter)
        with pytest.raises(DeadlineExceeded, match=r"within 1000 s"):
            await asyncio.wait_for(slow, 10)
        assert connection.lost is not None


async def test_B6_the_one_whose_time_is_over_hears_so_and_not_the_one_before_it() -> None:
    async with pair() as (far, near):
        far.script["FindCoordinator"].extend([Step(silent=True)] * 2)
        long, short = (asyncio.create_task(answer(near, n, timeout=t)) for n, t in ((1, 5.0), (2, 0.05)))
        done = await asyncio.gather(long, short, return_exceptions=True)
        assert [type(one) for one in done] == [ConnectError, DeadlineExceeded]


async def test_B6_a_tombstone_expires_too() -> None:
    async with pair(max_in_flight=1) as (far, near):
        far.script["Produce"].append(Step(silent=True))
        far.sound["Produce"] = lambda request: ProduceResponse()
        gone = asyncio.create_task(near.ask(ProduceRequest(acks=-1), timeout=0.05))
        await far.saw(1)
        gone.cancel()
        await asyncio.wait_for(near.ask(ProduceRequest(acks=-1)), 3)


async def test_B7_no_more_than_so_many_produce_requests_are_on_the_wire() -> None:
    async with pair(max_in_flight=3) as (far, near):
        gate = asyncio.Event()
        far.sound["Produce"] = lambda request: ProduceResponse()
        far.script["Produce"].append(Step(until=gate))
        tasks = [asyncio.create_task(near.ask(ProduceRequest(acks=-1))) for _ in range(8)]
        await far.saw(1)
        await asyncio.sleep(0.02)
        assert near.in_flight == 3
        gate.set()
        await asyncio.gather(*tasks)
        assert len(far.seen) == 8


async def slots(near: Any, lane: str = Lane.PRODUCE) -> int:
    return int(near._lanes.open[lane]._slots.free)


async def test_B7_a_slot_comes_back_once_after_answer_cancellation_and_encoding_error() -> None:
    async with pair(max_in_flight=3) as (far, near):
        far.sound["Produce"] = lambda request: ProduceResponse()
        await near.ask(ProduceRequest(acks=-1))
        assert await slots(near) == 3
        gate = asyncio.Event()
        far.script["Produce"].append(Step(until=gate))
        tasks = [asyncio.create_task(near.ask(ProduceRequest(acks=-1))) for _ in range(5)]
        await far.saw(2)
        for n in (0, 3, 4):  # on the wire, waiting for a slot, waiting for its turn
            tasks[n].cancel()
        gate.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert await slots(near) == 3
        with pytest.raises(EncodeError):
            await near.ask(ProduceRequest(acks=-1, transactional_id=3))  # type: ignore[arg-type]
        assert await slots(near) == 3


async def test_B7_the_end_of_a_connection_sets_free_who_waits_for_a_slot() -> None:
    async with pair(max_in_flight=1) as (far, near):
        far.sound["Produce"] = lambda request: ProduceResponse()
        gate = asyncio.Event()
        far.script["Produce"].append(Step(until=gate, reset=True))
        first, second = (asyncio.create_task(near.ask(ProduceRequest(acks=-1))) for _ in range(2))
        await far.saw(1)
        gate.set()
        with pytest.raises(ConnectError):
            await first
        await asyncio.wait_for(second, 10)  # was never written, so it goes to the next connection
        assert len(far.links) == 2


async def test_B14_an_answer_that_cannot_be_read_loses_the_connection_and_nothing_else() -> None:
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(raw=b"\x00\x00\x00\x09\x00\x00\x00\x01\x00\xff\xff\xff\xff"))
        with pytest.raises(ConnectError, match="FindCoordinator v6 #1") as caught:
            await answer(near, 1)
        assert caught.value.sent
        assert await answer(near, 2) == "2"


async def test_B26_socket_options_are_set() -> None:
    async with pair() as (_, near):
        await answer(near, 1)
        transport: Any = near._lanes.open[Lane.CONTROL]._transport
        sock = transport.get_extra_info("socket")
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_an_encoding_error_writes_nothing_and_the_connection_lives() -> None:
    async with pair() as (far, near):
        with pytest.raises(EncodeError):
            await near.ask(FindCoordinatorRequest(coordinator_keys=["a"]), max_version=3)
        assert await answer(near, 1) == "1"
        assert far.names() == ["FindCoordinator"]


async def test_B28_the_wall_clock_may_jump(monkeypatch: pytest.MonkeyPatch) -> None:
    async with pair() as (far, near):
        far.script["FindCoordinator"].append(Step(delay=0.02))
        asked = asyncio.create_task(answer(near, 1, timeout=1))
        await far.saw(1)
        monkeypatch.setattr(time, "time", lambda: 0.0)
        assert await asked == "1"
        assert await answer(near, 2) == "2"


async def test_B31_a_loop_that_stood_still_is_not_taken_for_a_silent_broker() -> None:
    async with pair() as (far, near):
        await answer(near, 0)
        asked = asyncio.create_task(answer(near, 1, timeout=0.1))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        time.sleep(0.3)  # noqa: ASYNC251 - a handler that computes
        assert await asked == "1"
        assert len(far.links) == 1


async def test_an_observer_that_is_cancelled_keeps_no_answer_from_the_caller() -> None:
    """Answers are taken in the connection's own callback, where nothing else tells a caller whose answer is lost."""

    class Cancelled:
        def answered(self, *_: object) -> None:
            raise asyncio.CancelledError

        def disconnected(self, *_: object, **__: object) -> None:
            pass

    async with pair() as (_, near):
        assert await answer(near, 1) == "1"
        for connection in near._lanes.open.values():
            connection.observer = Cancelled()  # type: ignore[assignment]
        async with asyncio.timeout(5):
            assert await answer(near, 2) == "2"
