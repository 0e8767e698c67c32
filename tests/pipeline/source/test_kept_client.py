"""Tasks of one process share a client, one after another; one whose task failed is not used again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark,spark-java]'")

import pyarrow as pa

from kcli.pipeline import kept_client
from kcli.pipeline.connection import Sealed, sealed_of
from kcli.pipeline.kept_client import client_of
from kcli.pipeline.source.fetching import gathered
from kcli.pipeline.source.quarantine import Sent
from kcli.pipeline.source.ranges import Range
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.pipeline.kept_client import Background
    from kcli.sandbox.thread import SandboxThread

API_VERSIONS = 18


@pytest.fixture
def in_task(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kept_client, "in_task", lambda: True)
    yield
    kept_client.close()


def read(sealed: Sealed, topic: str) -> int:
    wanted, columns = Range(topic, 0, 0, 10), frozenset({"value"})
    got = gathered(wanted, sealed, columns, fail_on_data_loss=True, poll_timeout=10, noted=lambda *_: None)
    return sum(one.rows for one in got)


def connections(sandbox: SandboxThread) -> int:
    """How often a client said hello."""
    return int(sandbox.call(lambda kafka: kafka.seen[API_VERSIONS]))


def test_the_next_task_uses_the_connections_of_the_one_before(
    sandbox: SandboxThread, in_task: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = Topics(sandbox.bootstrap, "kept")
    topic = topics.make(1)
    topics.values(topic, 10)
    sealed = sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap})
    assert read(sealed, topic) == 10
    before = connections(sandbox)
    assert read(sealed, topic) == 10
    assert connections(sandbox) == before
    other = sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap, "kafka.client.id": "other"})
    assert read(other, topic) == 10
    assert connections(sandbox) > before, "settings that differ have a client of their own"
    before = connections(sandbox)
    monkeypatch.setattr(kept_client, "IDLE", -1.0)
    assert read(sealed, topic) == 10
    assert connections(sandbox) > before, "one that was idle for long is replaced"


def test_a_client_ends_with_a_task_that_fails_and_with_a_block_that_is_no_task(
    sandbox: SandboxThread, in_task: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap})
    with pytest.raises(ValueError, match="x"), client_of(sealed):
        raise ValueError("x")
    assert not kept_client._kept
    with client_of(sealed) as one:
        pass
    assert len(kept_client._kept) == 1
    monkeypatch.setattr(kept_client, "in_task", lambda: False)
    with client_of(sealed) as other:
        assert other is not one
    assert len(kept_client._kept) == 1


def test_a_topic_that_was_created_again_is_read_by_a_client_that_knew_the_old_one(
    sandbox: SandboxThread, in_task: None
) -> None:
    topics = Topics(sandbox.bootstrap, "again")
    topic = topics.make(1)
    topics.values(topic, 10)
    sealed = sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap})
    assert read(sealed, topic) == 10
    sandbox.call(lambda kafka: kafka.topics.delete(kafka.topics.by_name[topic]))
    sandbox.call(lambda kafka: kafka.topics.create(topic, 1))
    topics.values(topic, 10)
    assert read(sealed, topic) == 10


def test_the_client_that_was_not_used_for_the_longest_time_is_let_go(sandbox: SandboxThread, in_task: None) -> None:
    """Its settings may be gone: a job that ended, a password that was changed."""

    def used(name: str) -> Background:
        with client_of(sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap, "kafka.client.id": name})) as kafka:
            return kafka

    first = {name: used(name) for name in "abcd"}
    assert used("a") is first["a"]
    used("e")
    assert used("a") is first["a"]
    assert used("d") is first["d"]
    assert used("b") is not first["b"], "the least recently used of five"
    assert not first["b"]._thread.is_alive()
    assert len(kept_client._kept) == kept_client.MOST


def test_a_task_does_not_fail_by_a_client_of_an_earlier_one_that_does_not_end_in_order(
    sandbox: SandboxThread, in_task: None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kept_client, "MOST", 1)
    with client_of(sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap, "kafka.client.id": "a"})) as first:
        pass
    end = first.client.__aexit__

    async def broken(_: object, *given: Any) -> None:
        await end(*given)
        raise OSError("the broker hung up")

    with monkeypatch.context() as patched:
        patched.setattr(type(first.client), "__aexit__", broken)
        with client_of(sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap, "kafka.client.id": "b"})) as second:
            pass
    assert [kept[2] for kept in kept_client._kept] == [second]
    assert not first._thread.is_alive()
    assert "kcli: the client of an earlier task did not close cleanly: OSError" in capfd.readouterr().err


def test_bad_records_of_the_next_range_are_sent_over_the_same_connections(
    sandbox: SandboxThread, in_task: None
) -> None:
    topics = Topics(sandbox.bootstrap, "bad")
    topic, bad = topics.make(1), topics.make(1)
    topics.values(topic, 10)
    sealed, wanted = sealed_of({"kafka.bootstrap.servers": sandbox.bootstrap}), Range(topic, 0, 0, 10)
    key, value, at = pa.array([None], pa.binary()), pa.array([b"x"]), pa.array([0], pa.timestamp("us", "UTC"))

    def read_and_send(*, whole: bool = True) -> None:
        sent = Sent(bad, sealed, wanted)
        try:
            for _ in gathered(wanted, sealed, frozenset({"value"}), fail_on_data_loss=True, poll_timeout=10,
                              noted=lambda *_: None):  # fmt: skip
                sent.add(pa.array([0]), at, key, value, {0: "odd"})
            if whole:
                sent.settle()
        finally:
            sent.undo()

    for _ in range(2):  # each client of the two reads once and sends once
        read_and_send()
    before = connections(sandbox)
    for _ in range(3):
        read_and_send()
    assert connections(sandbox) == before
    assert [record.value for _, record in topics.read(bad)] == [b"x"] * 5
    assert len(kept_client._kept) == 2
    read_and_send(whole=False)
    assert len(kept_client._kept) == 1, "a range that was not read to its end leaves no client behind"
