"""Calls that would wait for themselves: from the client's own thread, in the child of a fork, before a `with` block."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kcli
from kcli.errors import FORKED

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def bootstrap() -> Iterator[str]:
    with kcli.SandboxThread(topics={"orders": 1, "dlq": 1, "rows": 1}) as sandbox:
        yield sandbox.bootstrap


class Calls:
    """What callbacks did in the client's thread; `wait` returns what the last one returned, or raised."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._outcome: Any = None

    def __call__(self, function: Callable[[], Any]) -> Callable[[Any], None]:
        def callback(_: Any) -> None:
            assert threading.current_thread().name == "kcli-sync"
            try:
                self._outcome = function()
            except kcli.KcliError as problem:
                self._outcome = problem
            self._done.set()

        return callback

    def wait(self) -> Any:
        assert self._done.wait(10), "the call in the client's thread never returned"
        return self._outcome


def test_a_callback_sends_on_to_another_topic(bootstrap: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka:
        for _ in range(2):  # the topic is unknown to the producer, then known
            calls = Calls()
            with kafka.producer() as producer:
                producer.send("orders", b"1").add_done_callback(calls(lambda: producer.send("dlq", b"2")))
                assert calls.wait().result(10).topic == "dlq"
                again = Calls()
                producer.send("orders", b"3").add_done_callback(again(lambda: producer.send("dlq", b"4")))
                assert again.wait().result(10).topic == "dlq"
        with kafka.consumer("dlq", stop_at_end=True) as consumer:
            assert [message.value for message in consumer] == [b"2", b"4"] * 2


def test_what_a_callback_sends_is_flushed(bootstrap: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer(kcli.ProducerSettings(linger=30.0)) as producer:
        calls = Calls()
        first = producer.send("orders", b"1")
        first.add_done_callback(calls(lambda: producer.send("dlq", b"2")))
        producer.flush()
        second = calls.wait()
        producer.flush()
        assert second.done()
        assert producer.counts.acked == 2


def test_a_callback_gets_buffer_full_instead_of_waiting(bootstrap: str) -> None:
    settings = kcli.ProducerSettings(linger=0.3, buffer_memory=20_000)
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer(settings) as producer:
        producer.send_and_wait("dlq", b"known")

        def fill() -> None:
            producer.send("dlq", bytes(15_000))
            producer.send("dlq", bytes(15_000))

        calls = Calls()
        producer.send("orders", b"1").add_done_callback(calls(fill))
        producer.flush()
        assert isinstance(calls.wait(), kcli.BufferFull)


def test_wrong_records_and_closed_producers_are_told_to_the_callback(bootstrap: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka:
        calls, late = Calls(), Calls()
        with kafka.producer() as producer:
            producer.send("orders", b"1").add_done_callback(calls(lambda: producer.send("dlq", 5)))
            assert "value 5" in str(calls.wait())

            def send_late() -> object:
                time.sleep(0.2)
                return producer.send("no-such", b"1").exception(0)

            producer.send("orders", b"1").add_done_callback(late(send_late))
        assert isinstance(late.wait(), kcli.KcliError | TimeoutError)


WAITING: list[tuple[str, Callable[[Any], Any]]] = [
    ("flush", lambda it: it.producer.flush()),
    ("send_and_wait", lambda it: it.producer.send_and_wait("dlq", b"1")),
    ("send_records", lambda it: it.producer.send_records("dlq", [])),
    ("poll", lambda it: it.consumer.poll(0)),
    ("commit", lambda it: it.consumer.commit()),
    ("topics", lambda it: it.kafka.admin.topics()),
    ("leave the block", lambda it: it.producer.__exit__(None, None, None)),
]


@pytest.mark.parametrize(("name", "call"), WAITING, ids=[name for name, _ in WAITING])
def test_a_call_that_has_to_wait_is_a_usage_error_in_the_clients_thread(
    name: str, call: Callable[[Any], Any], bootstrap: str
) -> None:
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer() as producer:
        with kafka.consumer("rows", group="g") as consumer:
            it = type("It", (), {"kafka": kafka, "producer": producer, "consumer": consumer})
            calls = Calls()
            producer.send("orders", b"1").add_done_callback(calls(lambda: call(it)))
            problem = calls.wait()
            assert isinstance(problem, kcli.UsageError)
            assert "make it from another thread" in str(problem)
            assert producer.send_and_wait("orders", b"2").offset == 1


def test_what_waits_for_nothing_works_in_the_clients_thread(bootstrap: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer() as producer:
        with kafka.consumer("rows") as consumer:
            calls = Calls()

            def look() -> tuple[Any, ...]:
                at = kcli.TopicPartition("rows", 0)
                consumer.pause(at)
                return producer.metrics, consumer.metrics, kafka.metrics, consumer.assignment, consumer.position(at)

            producer.send("orders", b"1").add_done_callback(calls(look))
            assert calls.wait()[3] == {kcli.TopicPartition("rows", 0)}


def test_a_hook_may_ask_for_metrics(bootstrap: str) -> None:
    seen: list[object] = []
    client = kcli.SyncClient(bootstrap, hooks=kcli.Hooks(on_batch_written=lambda *_: seen.append(client.metrics)))
    with client, client.producer() as producer:
        producer.send_and_wait("orders", b"1")
    assert seen


BEFORE: list[tuple[str, Callable[[Any], Any]]] = [
    ("next", next),
    ("poll", lambda consumer: consumer.poll(0)),
    ("commit", lambda consumer: consumer.commit()),
    ("metrics", lambda consumer: consumer.metrics),
    ("seek", lambda consumer: consumer.seek(kcli.TopicPartition("rows", 0), 1)),
]


@pytest.mark.parametrize(("name", "call"), BEFORE, ids=[name for name, _ in BEFORE])
def test_a_consumer_outside_of_its_block_is_a_usage_error(
    name: str, call: Callable[[Any], Any], bootstrap: str
) -> None:
    with kcli.SyncClient(bootstrap) as kafka:
        for consumer in (kafka.consumer("rows"), kafka.consumer("rows", group="g")):
            with pytest.raises(kcli.UsageError, match="use the consumer in a with block"):
                call(consumer)
        with pytest.raises(kcli.UsageError, match="use the producer in a with block"):
            kafka.producer().send("orders", b"1")


def in_child(work: Callable[[], Any]) -> Any:
    """What `work` returns in the child of a fork, within 20 s."""
    readable, writable = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: of threads and fork
        child = os.fork()
    if not child:
        try:
            os.write(writable, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writable)
    end = time.monotonic() + 20
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        if time.monotonic() > end:
            os.kill(child, 9)
            os.waitpid(child, 0)
            pytest.fail("the child waits for ever")
        time.sleep(0.01)
    with os.fdopen(readable, "rb") as told:
        return json.loads(told.read() or b"null")


def refusals(calls: list[Callable[[], Any]]) -> list[str]:
    """What each call raises."""
    found = []
    for call in calls:
        try:
            call()
        except kcli.UsageError as problem:
            found.append(str(problem))
    return found


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_client_in_the_child_of_a_fork_is_a_usage_error(bootstrap: str) -> None:
    with kcli.SyncClient(bootstrap) as kafka, kafka.producer() as producer, kafka.consumer("rows") as consumer:
        producer.send_and_wait("orders", b"1")

        def child() -> Any:
            told = refusals(
                [
                    lambda: producer.send("orders", b"2"),
                    lambda: producer.flush(),
                    lambda: producer.metrics,
                    lambda: next(consumer),
                    lambda: consumer.metrics,
                    lambda: kafka.admin.topics(),
                    lambda: kafka.producer(),
                    lambda: kafka.metrics,
                ]
            )
            consumer.__exit__(None, None, None)
            producer.__exit__(None, None, None)
            kafka.__exit__(None, None, None)
            with kcli.SyncClient(bootstrap) as own, own.producer() as anew:
                return [told, anew.send_and_wait("orders", b"2").offset]

        assert in_child(child) == [[FORKED] * 8, 1]
        assert producer.send_and_wait("orders", b"3").offset == 2


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
async def test_an_asyncio_client_in_the_child_of_a_fork_is_a_usage_error() -> None:
    async with kcli.Sandbox(topics={"orders": 1}) as sandbox, kcli.Client(sandbox.bootstrap) as client:
        async with client.producer() as producer, client.consumer() as consumer:
            consumer.assign({kcli.TopicPartition("orders", 0): 0})
            await producer.send_and_wait("orders", b"1")
            await consumer.poll()
            share = client.share_consumer(kcli.ConsumerSettings(), kcli.ShareSettings(group="s"))

            def child() -> Any:
                asyncio.set_event_loop(None)

                def run(work: Any) -> Any:
                    loop = asyncio.new_event_loop()
                    return loop.run_until_complete(asyncio.wait_for(work, 5))

                return refusals(
                    [
                        lambda: run(producer.send("orders", b"2")),
                        lambda: run(consumer.poll()),
                        lambda: run(share.poll()),
                        lambda: client.admin,
                        lambda: client.producer(),
                        lambda: client.consumer(),
                    ]
                )

            told = in_child(child)
            await share.close()
        assert told == [FORKED] * 6
