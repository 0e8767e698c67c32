"""A group moves from the classic protocol to KIP-848 and back while it reads, on a real Kafka and on the sandbox:
nothing is lost, nothing is read twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

import kcli
from kcli.sandbox.thread import SandboxThread
from tests.kafka.strangers import Confluent, until
from tests.programs import KCLI, Background
from tests.programs import kcli as run


@pytest.fixture(params=[pytest.param("kafka", marks=pytest.mark.long), "sandbox"])
def bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "kafka":
        yield request.getfixturevalue("kafka").bootstrap
        return
    with SandboxThread(rebalance_delay=0.0) as sandbox:
        yield sandbox.bootstrap


@pytest.fixture
def topic(bootstrap: str, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert run("topics", "create", name, "-p", "6", "-b", bootstrap, "--wait").code == 0
    ended = run("consume", name, "-b", bootstrap, "-g", f"g-{name}", "--from-beginning", "-e")
    assert ended.code == 0, ended.err  # a commit for each partition: librdkafka resets without one
    return name


class Producing:
    """Sends numbers, one after the other, in a thread of its own, until `stop`; `count` is how many there are."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._bootstrap, self._topic = bootstrap, topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="producing")
        self.count = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)

    def _work(self) -> None:
        with kcli.SyncClient(self._bootstrap) as client, client.producer() as producer:
            while not self._stop.wait(0.02):
                for number in range(self.count, self.count + 20):
                    producer.send(self._topic, b"%d" % number, key=b"k%d" % number)
                producer.flush()
                self.count += 20


class Group:
    """The group of a topic: members of kcli's by name, each with a file of what it printed."""

    def __init__(self, bootstrap: str, topic: str, folder: Path, running: ExitStack) -> None:
        self._bootstrap, self._topic, self._folder, self._running = bootstrap, topic, folder, running
        self._client = running.enter_context(kcli.SyncClient(bootstrap))
        self.name = f"g-{topic}"
        self._members: dict[str, Background] = {}

    def start(self, name: str, protocol: str, *more: str) -> None:
        settings = ["group.protocol=consumer"]
        if protocol == "classic":
            settings = ["group.protocol=classic", "heartbeat.interval.ms=200", "session.timeout.ms=10000", *more]
        words = [
            *KCLI,
            "consume",
            self._topic,
            "-b",
            self._bootstrap,
            "-g",
            self.name,
            "--from-beginning",
            "-f",
            "%s\\n",
        ]
        words += [word for setting in settings for word in ("-X", setting)]
        self._members[name] = self._running.enter_context(Background(words, stdout=self._folder / name))

    def stop(self, name: str) -> None:
        assert self._members[name].stop() == 0, self._members[name].err

    def seen(self) -> list[int]:
        """What all members of kcli's printed so far, in whole lines."""
        texts = [one.out for one in self._members.values()]
        return [int(line) for text in texts for line in text[: text.rfind(b"\n") + 1].splitlines()]

    def is_now(self, kind: str, *owned: int) -> None:
        """Wait until the group is of this type, and its members own that many partitions each."""
        until(lambda: self._shape() == (kind, list(owned)), within=60)

    def _shape(self) -> tuple[str, list[int]]:
        described = self._client.admin.describe_groups([self.name])[self.name]
        if isinstance(described, kcli.KcliError):
            return str(described), []
        return described.type, sorted(len(member.assignment) for member in described.members)

    def lag(self) -> int:
        """How many records the group has yet to commit."""
        with self._client.consumer(self._topic, stop_at_end=True) as consumer:
            count = sum(1 for _ in consumer)
        kept = self._client.admin.committed([self.name])[self.name]
        assert not isinstance(kept, kcli.KcliError)
        return count - sum(each.offset for each in kept.values() if not isinstance(each, kcli.KcliError))


@pytest.fixture
def group(bootstrap: str, topic: str, tmp_path: Path) -> Iterator[Group]:
    with ExitStack() as running:
        yield Group(bootstrap, topic, tmp_path, running)


@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_a_rolling_migration_there_and_back_loses_and_doubles_nothing(
    bootstrap: str, topic: str, group: Group, strategy: str
) -> None:
    strategy = f"partition.assignment.strategy={strategy}"
    with Producing(bootstrap, topic) as producing:
        group.start("old-1", "classic", strategy)
        group.start("old-2", "classic", strategy)
        group.is_now("classic", 3, 3)
        group.start("new-1", "consumer")
        group.is_now("consumer", 2, 2, 2)
        group.stop("old-1")
        group.is_now("consumer", 3, 3)
        group.start("new-2", "consumer")
        group.is_now("consumer", 2, 2, 2)
        group.stop("old-2")
        group.is_now("consumer", 3, 3)
        group.start("back-1", "classic", strategy)
        group.is_now("consumer", 2, 2, 2)
        group.stop("new-1")
        group.is_now("consumer", 3, 3)
        group.start("back-2", "classic", strategy)
        group.is_now("consumer", 2, 2, 2)
        group.stop("new-2")
        group.is_now("classic", 3, 3)
        producing.stop()
        assert producing.count > 1000
        until(lambda: len(group.seen()) >= producing.count)
    group.stop("back-1")
    group.stop("back-2")
    assert sorted(group.seen()) == list(range(producing.count))


@pytest.mark.long
def test_librdkafka_of_both_protocols_moves_with_kcli(bootstrap: str, topic: str, group: Group) -> None:
    old = Confluent(bootstrap, group.name, topic)
    new = Confluent(bootstrap, group.name, topic, "consumer")
    sent = 0

    def all_is_read() -> None:
        """Send some more; all of it arrives once. What is read is committed before the next step."""
        nonlocal sent
        lines = b"".join(b"k%d\t%d\n" % (n, n) for n in range(sent, sent + 600))
        assert run("produce", topic, "-b", bootstrap, "-K", "\t", stdin=lines).code == 0
        sent += 600
        until(lambda: len(seen()) >= sent)
        assert sorted(seen()) == list(range(sent))
        until(lambda: group.lag() == 0)

    def seen() -> list[int]:
        return [*group.seen(), *map(int, old.values), *map(int, new.values)]

    group.start("ours-old", "classic")
    with old:
        group.is_now("classic", 3, 3)
        all_is_read()
        group.start("ours-new", "consumer")
        group.is_now("consumer", 2, 2, 2)
        all_is_read()
        with new:
            group.is_now("consumer", 1, 1, 2, 2)
            all_is_read()
            group.stop("ours-old")
            group.is_now("consumer", 2, 2, 2)
            all_is_read()
            group.stop("ours-new")
            group.is_now("consumer", 3, 3)
            all_is_read()
        group.is_now("classic", 6)
        all_is_read()
    assert new.partitions
    assert old.partitions
