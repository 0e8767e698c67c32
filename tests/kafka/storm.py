"""`make storm`: members join and leave a group every second, for STORM_SECONDS (60); every promise checked at the end.

    STORM_SECONDS=60 STORM_SEED=42 python -m tests.kafka.storm

Three processes share 24 partitions: one reads with kcli's library, one with confluent-kafka, and one is `kcli consume
-g`, started anew for each of its lives. Records come in all the while. What was read is held against what the
coordinator wrote down (ownership.py). The seed decides who joins and leaves; what the machine does in between is its
own: a seed repeats a plan, not a run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from tests.kafka.artifacts import missing
from tests.kafka.cluster import Kafka
from tests.kafka.coordinator_log import Commit, history
from tests.kafka.ownership import Seen, again, problems, spans
from tests.programs import KCLI, Background, kcli

PARTITIONS = 24
RATE = 800  # records a second
KILLS = 0.3  # of those who leave: the command's
BEAT = 1.0  # seconds between two who join or leave
PROTOCOLS = ("range", "cooperative-sticky", "consumer")


class Member:
    """A process that joins and leaves as it is told (member.py)."""

    def __init__(self, kafka: Kafka, kind: str, topic: str, group: str, protocol: str, commits: str = "auto") -> None:
        words = [sys.executable, "-m", "tests.kafka.member", kind, kafka.bootstrap, topic, group, kind, protocol]
        self._path = kafka.root / f"{group}.{kind}"
        self.name, self.inside = kind, False
        self._rows: list[list[str]] = []
        self._heard = 0  # bytes
        self.process = Background([*words, commits], stdout=self._path, stdin=subprocess.PIPE)

    def join(self) -> None:
        self._say(b"join\n")
        self.inside = True

    def leave(self) -> None:
        self._say(b"leave\n")
        self.inside = False

    def _say(self, word: bytes) -> None:
        assert self.process.process.stdin is not None
        assert self.process.process.poll() is None, self.process.err
        self.process.process.stdin.write(word)
        self.process.process.stdin.flush()

    def end(self) -> None:
        """Leave, and end well. Raises AssertionError, TimeoutExpired."""
        assert self.process.process.stdin is not None
        self.process.process.stdin.close()
        code = self.process.process.wait(60)
        assert code == 0, self.process.err
        assert "Traceback" not in self.process.err, self.process.err

    def close(self) -> None:
        self.process.__exit__()

    @property
    def seen(self) -> list[Seen]:
        return [Seen(float(row[1]), row[2], int(row[3]), int(row[4]), int(row[5])) for row in self.rows("read")]

    def rows(self, *kinds: str) -> list[list[str]]:
        """What it said, in order: its words, of these kinds."""
        with self._path.open("rb") as said:
            said.seek(self._heard)
            new = said.read().rpartition(b"\n")[0]
        if new:
            self._heard += len(new) + 1
            self._rows += [line.split() for line in new.decode().split("\n")]
        return [row for row in self._rows if row[0] in kinds]


class Command:
    """`kcli consume -g`, a process for each life. A thread notes when each line came out."""

    def __init__(self, kafka: Kafka, topic: str, group: str, protocol: str, name: str = "command") -> None:
        self._words = [*KCLI, "consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning"]
        self._words += ["-f", "%p %o %s\\n"]
        if protocol == "consumer":
            self._words += ["-X", "group.protocol=consumer"]
        else:
            self._words += ["-X", f"partition.assignment.strategy={protocol}"]
            self._words += ["-X", "session.timeout.ms=3000", "-X", "heartbeat.interval.ms=300"]
        self.name, self.inside, self.killed = name, False, 0
        self.seen: list[Seen] = []
        self.lives: list[subprocess.Popen[bytes]] = []
        self.told: list[Path] = []
        self._folder = kafka.root / f"{group}.{name}"
        self._threads: list[threading.Thread] = []

    def join(self) -> None:
        self._ended()
        life = f"{self.name}-{len(self.lives) + 1}"
        told = self._folder.with_name(f"{self._folder.name}.{life}.err")
        with told.open("wb") as err:
            one = subprocess.Popen(
                [*self._words, "-X", f"client.id={life}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err
            )
        thread = threading.Thread(target=self._note, args=(one, life))
        thread.start()
        self.lives.append(one)
        self.told.append(told)
        self._threads.append(thread)
        self.inside = True

    def leave(self) -> None:
        self.send(signal.SIGINT)
        self.inside = False

    def kill(self) -> None:
        """It is gone, and nobody was told: its session has to end, and what it read and did not commit comes again."""
        self.send(signal.SIGKILL)
        self.inside = False
        self.killed += 1

    def send(self, how: signal.Signals) -> None:
        """A signal for a life that must be there."""
        assert self.lives[-1].poll() is None, self.err
        self.lives[-1].send_signal(how)

    def _note(self, one: subprocess.Popen[bytes], life: str) -> None:
        assert one.stdout is not None
        for line in one.stdout:
            partition, offset, number = map(int, line.split())
            self.seen.append(Seen(time.time(), life, partition, offset, number))

    def _ended(self) -> None:
        """The life before has ended, and well. Raises AssertionError, TimeoutExpired."""
        if self.lives:
            code = self.lives[-1].wait(60)
            assert code in (0, -signal.SIGKILL), f"{self.name}-{len(self.lives)}: exit code {code}: {self.err}"
            assert "Traceback" not in self.err, self.err

    @property
    def err(self) -> str:
        """What its last life said."""
        return self.told[-1].read_text() if self.told else ""

    def end(self) -> None:
        if self.inside:
            self.leave()
        self._ended()

    def close(self) -> None:
        for one in self.lives:
            if one.poll() is None:
                one.kill()
                one.wait(10)
        for thread in self._threads:
            thread.join(10)
        for one in self.lives:
            assert one.stdout is not None
            one.stdout.close()


class Feed:
    """`kcli produce` with numbered lines on stdin, `rate` a second, until the end of `with` or `stop`."""

    def __init__(self, kafka: Kafka, topic: str, rate: int = RATE) -> None:
        self._words = [*KCLI, "produce", topic, "-b", kafka.bootstrap, "-K", "\t", "-X", "linger.ms=5"]
        self._path, self._rate = kafka.root / f"{topic}.feed", rate
        self._stop = threading.Event()
        self.open = True  # set to False, nothing is sent for a while
        self.sent = 0

    def __enter__(self) -> Self:
        self._kcli = Background(self._words, stdout=self._path, stdin=subprocess.PIPE)
        self._thread = threading.Thread(target=self._pour)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(30)
        self._kcli.__exit__()

    def _pour(self) -> None:
        stdin, begun = self._kcli.process.stdin, time.monotonic()
        assert stdin is not None
        while not self._stop.wait(0.05):
            if not self.open:
                continue
            due = int((time.monotonic() - begun) * self._rate)
            stdin.write(b"".join(b"k%d\t%d\n" % (n % 997, n) for n in range(self.sent, due)))
            stdin.flush()
            self.sent = due

    def stop(self) -> None:
        """No more; everything is acknowledged. Raises AssertionError, TimeoutExpired."""
        self._stop.set()
        self._thread.join(30)
        assert self._kcli.process.stdin is not None
        self._kcli.process.stdin.close()
        assert self._kcli.process.wait(60) == 0, self._kcli.err


class Storm:
    """One group in a storm. Raises AssertionError naming the broken promises."""

    def __init__(self, kafka: Kafka, protocol: str, seed: str) -> None:
        self._kafka = kafka
        self._die = random.Random(seed)
        self.topic = f"storm-{uuid.uuid4().hex[:8]}"
        self.group = f"g-{self.topic}"
        made = kcli("topics", "create", self.topic, "-p", str(PARTITIONS), "-b", kafka.bootstrap, "--wait")
        assert made.code == 0, made.err
        prepare(kafka, self.topic, self.group, protocol)
        self._command = Command(kafka, self.topic, self.group, protocol)
        self.members: list[Member | Command] = [
            Member(kafka, "kcli", self.topic, self.group, protocol),
            self._command,
            Member(kafka, "confluent", self.topic, self.group, protocol),
        ]

    def run(self, seconds: float) -> str:
        """The storm, and the calm after it; what happened."""
        events = 0
        try:
            with Feed(self._kafka, self.topic) as feed:
                for member in self.members:
                    member.join()
                until = time.monotonic() + seconds
                due = time.monotonic()
                while time.monotonic() < until:
                    due += BEAT
                    time.sleep(max(0.0, due - time.monotonic()))
                    self._turn()
                    events += 1
                feed.stop()
                if not any(member.inside for member in self.members):
                    self.members[0].join()
                wait_for(lambda: self._all_read(feed.sent), 60.0, lambda: self._missing(feed.sent))
                for member in self.members:
                    member.end()
        finally:
            for member in self.members:
                member.close()
        return f"{events} joined or left, {self._verify(feed.sent)}"

    def _turn(self) -> None:
        """Somebody joins or leaves, or is killed; not everybody is away at once."""
        inside = [member for member in self.members if member.inside]
        one = self._die.choice([member for member in self.members if not member.inside or len(inside) > 1])
        if one.inside and isinstance(one, Command) and self._die.random() < KILLS:
            one.kill()
        else:
            (one.leave if one.inside else one.join)()

    def _seen(self) -> list[Seen]:
        return [one for member in self.members for one in member.seen]

    def _all_read(self, sent: int) -> bool:
        return len({one.number for one in self._seen()}) >= sent

    def _missing(self, sent: int) -> str:
        numbers = {one.number for one in self._seen()}
        return f"{sent - len(numbers)} of {sent} were never read"

    def _verify(self, sent: int) -> str:
        seen = self._seen()
        ends = dict(committed_and_end(self._kafka, self.topic, self.group))
        told = history(self._kafka.bootstrap, self.group, self.topic)
        found = problems(told, seen, {p: end for p, (_, end) in ends.items()}, set(range(sent)))
        found += [f"partition {p}: {end} records, {done} committed" for p, (done, end) in ends.items() if done != end]
        assert not found, f"{len(found)} broken promises: " + "; ".join(found[:10])
        lives, killed = len({one.life for one in seen}), self._command.killed
        owned, commits = len(spans(told)), sum(isinstance(one, Commit) for one in told)
        return (
            f"{sent} records read by {lives} lives, {killed} of them killed, {again(seen)} again; "
            f"{commits} commits; partitions changed hands {owned} times"
        )


def prepare(kafka: Kafka, topic: str, group: str, protocol: str) -> None:
    """The group has a commit for every partition: without one librdkafka asks for the beginning, and may still do so
    after the partition came back with a commit. A KIP-848 group has short heartbeats, as its members may not say."""
    extra = ["-X", "group.protocol=consumer"] if protocol == "consumer" else []
    if protocol == "consumer":
        shorten(kafka, group)
    ended = kcli("consume", topic, "-b", kafka.bootstrap, "-g", group, "--from-beginning", "-e", *extra)
    assert ended.code == 0, ended.err


def shorten(kafka: Kafka, group: str, session: int = 3000, heartbeat: int = 300) -> None:
    """Milliseconds of a KIP-848 group's session and heartbeats."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    wanted = {"consumer.session.timeout.ms": session, "consumer.heartbeat.interval.ms": heartbeat}
    entries = [
        ConfigEntry(name, str(value), incremental_operation=AlterConfigOpType.SET) for name, value in wanted.items()
    ]
    resource = ConfigResource(ConfigResource.Type.GROUP, group, incremental_configs=entries)
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(10)


def committed_and_end(kafka: Kafka, topic: str, group: str) -> list[tuple[int, tuple[int, int]]]:
    """What librdkafka says of each partition: the group's commit and the end."""
    from confluent_kafka.admin import OffsetSpec

    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    numbers = sorted(admin.list_topics(topic, timeout=10).topics[topic].partitions)
    (asked,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    done = {at.partition: at.offset for at in asked.result(10).topic_partitions if at.topic == topic}
    ends = admin.list_offsets({TopicPartition(topic, n): OffsetSpec.latest() for n in numbers})
    return [(at.partition, (done.get(at.partition, -1), future.result(10).offset)) for at, future in ends.items()]


def wait_for(condition, within: float, about) -> None:  # type: ignore[no-untyped-def]
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, about()
        time.sleep(0.1)


def main() -> int:
    """A storm for each protocol; exit code 1 at the first broken promise, with the seed to try it again."""
    reason = missing()
    if reason is not None:
        print(f"no real Apache Kafka: {reason}", file=sys.stderr)
        return 1
    seconds = float(os.environ.get("STORM_SECONDS") or 60)
    seed = os.environ.get("STORM_SEED") or str(random.SystemRandom().randrange(1 << 32))
    print(f"STORM_SEED={seed} STORM_SECONDS={seconds:g}", flush=True)
    kafka = Kafka(1)
    kafka.start()
    try:
        for protocol in (os.environ.get("STORM_PROTOCOLS") or " ".join(PROTOCOLS)).split():
            print(f"{protocol}: ", end="", flush=True)
            print(Storm(kafka, protocol, f"{seed}/{protocol}").run(seconds), flush=True)
    except BaseException:
        print(f"\nSTORM_SEED={seed} failed; the logs are in {kafka.root}", file=sys.stderr)
        for node in kafka.nodes:
            if node.alive:
                node.kill()
        raise
    kafka.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
