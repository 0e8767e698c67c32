"""Offsets of groups on a real Apache Kafka, with its own kafka-consumer-groups on the other side: the same plan for
each form, and files that go from one tool to the other and back."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.changes.undone import undo_files
from tests.kafka.cluster import Kafka
from tests.programs import KCLI, Background, Result, kcli

BASE = 1_700_000_000_000  # ms: 2023-11-14T22:13:20Z
Offsets = dict[tuple[str, int], int]


class World:
    """A topic whose records are a second apart: 100 in partition 0, 30 in 1, none in 2; and the two tools."""

    def __init__(self, kafka: Kafka, topic: str, folder: Path) -> None:
        self.kafka, self.topic, self.folder = kafka, topic, folder
        assert (
            self.kcli("topics", "create", topic, "-p", "3", "--config", "retention.ms=-1").code == 0
        )  # its times are years ago
        lines = [
            json.dumps({"partition": partition, "timestamp": BASE + 1000 * n, "value": str(n)})
            for partition, count in ((0, 100), (1, 30))
            for n in range(count)
        ]
        done = self.kcli("produce", topic, "--input", "json", stdin="\n".join(lines).encode())
        assert done.code == 0, done.err

    def kcli(self, *words: str, stdin: bytes = b"") -> Result:
        return kcli(*words, "-b", self.kafka.bootstrap, stdin=stdin, env={"XDG_STATE_HOME": str(self.folder)})

    def theirs(self, *words: str) -> str:
        """What kafka-consumer-groups prints."""
        return self.kafka.tool(
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            "--bootstrap-server", self.kafka.bootstrap, *words,
        )  # fmt: skip

    def file(self, text: str, name: str = "offsets.csv") -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def commit(self, group: str, *offsets: int) -> None:
        """Commit these offsets of partitions 0, 1, …"""
        path = self.file("".join(f"{self.topic},{n},{at}\n" for n, at in enumerate(offsets)))
        done = self.kcli("groups", "reset", group, "--create", "--from-file", path, "--execute", "--no-undo")
        assert done.code == 0, done.err

    def committed(self, *groups: str) -> list[str]:
        """The lines of an export, sorted."""
        done = self.kcli("groups", "export", *groups)
        assert done.code == 0, done.err
        return sorted(done.out.decode().splitlines())

    def lines(self, said: str) -> str:
        """The rows of what Kafka's tool exported, without its warnings."""
        return "".join(f"{line}\n" for line in said.splitlines() if self.topic in line and line.count(",") in (2, 3))

    def reset(self, group: str, *words: str) -> tuple[Result, list[dict[str, Any]]]:
        done = self.kcli("groups", "reset", group, *words, "-J")
        return done, json.loads(done.out)["partitions"]

    @contextmanager
    def member(self, group: str, protocol: str) -> Iterator[None]:
        """A member at work, while it lasts."""
        consume = [*KCLI, "consume", self.topic, "-g", group, "-b", self.kafka.bootstrap, "-q"]
        out = self.folder / f"out-{time.monotonic_ns()}"
        with Background([*consume, "-X", f"group.protocol={protocol}"], stdout=out) as one:
            for _ in range(150):
                rows = self.kcli("groups", "members", group, "--format", "ndjson").out.splitlines()
                if any(json.loads(row).get("partitions") == 3 for row in rows):
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(f"nobody joined: {one.err}")
            yield
            assert one.stop() == 0


@pytest.fixture
def world(kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path) -> World:
    return World(kafka, topic_name(), tmp_path)


FORMS = [
    ("--to-earliest",),
    ("--to-latest",),
    ("--to-offset", "40"),
    ("--shift-by", "-20"),
    ("--shift-by", "70"),
    ("--to-datetime", "2023-11-14T22:13:45.500"),
    ("--to-datetime", "2023-11-14T23:13:45.500+01:00"),
    ("--by-duration", "P1DT2H"),
    ("--to-current",),
]


def test_E43_each_form_plans_what_kafkas_own_tool_plans(world: World) -> None:
    group = f"g-{world.topic}"
    world.commit(group, 50, 10, 0)
    for form in FORMS:
        _, rows = world.reset(group, "--topic", world.topic, *form, "--dry-run")
        mine = sorted(f"{row['topic']},{row['partition']},{row['new']}" for row in rows)
        said = world.theirs(
            "--reset-offsets", "--group", group, "--topic", world.topic, *form, "--dry-run", "--export"
        )  # fmt: skip
        theirs = sorted(line for line in said.splitlines() if line.startswith(world.topic))
        assert mine == theirs, (form, said)
    assert world.committed(group) == [f"{world.topic},0,50", f"{world.topic},1,10", f"{world.topic},2,0"]


def test_E43_files_go_from_one_tool_to_the_other_and_back(world: World) -> None:
    one, two = f"one-{world.topic}", f"two-{world.topic}"
    world.commit(one, 50, 10, 0)
    world.commit(two, 7, 8, 0)
    before = world.committed(one), world.committed(one, two)
    exported = world.file(world.kcli("groups", "export", one, two).out.decode(), "both.csv")
    # theirs to us: one group, then two
    words = ("--reset-offsets", "--group", one, "--all-topics", "--to-current", "--dry-run", "--export")
    their_one = world.file(world.lines(world.theirs(*words)), "their-one.csv")
    their_both = world.file(world.lines(world.theirs(words[0], "--group", two, *words[1:])), "their-both.csv")
    world.commit(one, 1, 1, 0)
    world.commit(two, 1, 1, 0)
    assert world.kcli("groups", "reset", one, "--from-file", their_one, "--execute").code == 0
    assert world.committed(one) == before[0]
    assert world.kcli("groups", "reset", "--from-file", their_both, "--execute").code == 0
    assert world.committed(one, two) == before[1]
    # ours to them
    world.commit(one, 1, 1, 0)
    world.commit(two, 1, 1, 0)
    world.theirs("--reset-offsets", "--group", one, "--group", two, "--from-file", exported, "--execute")
    assert world.committed(one, two) == before[1]
    world.commit(one, 1, 1, 0)
    single = world.file("\n".join(before[0]) + "\n", "single.csv")
    world.theirs("--reset-offsets", "--group", one, "--from-file", single, "--execute")
    assert world.committed(one) == before[0]


def test_E43_a_reset_is_where_a_consumer_goes_on_and_the_undo_file_takes_it_back(world: World) -> None:
    group = f"g-{world.topic}"
    world.commit(group, 50, 10)
    done, rows = world.reset(group, "--all-topics", "--to", "-2", "--execute")
    assert done.code == 0, done.err
    assert [(row["old"], row["new"], row["result"]) for row in rows] == [
        (50, 98, "reset"), (10, 28, "reset"), (None, 0, "reset"),
    ]  # fmt: skip
    undo = undo_files(world.folder)[-1]  # the topic was created before
    read = world.kcli("consume", world.topic, "-g", group, "-c", "4", "-f", "%p %s\\n")
    assert sorted(read.out.decode().splitlines()) == ["0 98", "0 99", "1 28", "1 29"]
    back = world.kcli("groups", "reset", "--from-file", str(undo), "--execute")
    assert back.code == 0, back.err
    assert world.committed(group) == [f"{world.topic},0,50", f"{world.topic},1,10"]
    shown = world.theirs("--describe", "--group", group, "--offsets")
    lags = {words[2]: words[3] for line in shown.splitlines() if len(words := line.split()) > 5 and words[0] == group}
    assert lags.get("2", "-") == "-"
    assert (lags["0"], lags["1"]) == ("50", "10")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_E43_a_live_group_is_refused_and_an_empty_one_of_either_protocol_is_reset(world: World, protocol: str) -> None:
    group, other = f"{protocol}-{world.topic}", f"old-{world.topic}"
    assert world.kcli("topics", "create", other).code == 0
    world.commit(group, 50, 10, 0)
    path = world.file(f"{other},0,0\n", "other.csv")
    assert world.kcli("groups", "reset", group, "--from-file", path, "--execute", "--no-undo").code == 0
    with world.member(group, protocol):
        refused, rows = world.reset(group, "--topic", world.topic, "--to-earliest", "--execute")
        assert (refused.code, {row["result"] for row in rows}) == (1, {"refused"})
        assert f"{group}: the group is Stable with 1 member (kcli-" in refused.err
        assert "stop the members" in refused.err
        words = ("groups", "delete-offsets", group, "--topic", other, "--topic", world.topic, "--execute", "-J")
        deleted = world.kcli(*words)
        assert deleted.code == 1
        results = [(row["topic"], row["result"]) for row in json.loads(deleted.out)["partitions"]]
        assert sorted(results) == sorted([(other, "deleted"), *[(world.topic, "refused")] * 3])
        assert not any(line.startswith(other) for line in world.committed(group))
        copied = world.kcli("groups", "clone", group, f"copy-{group}", "--execute")
        assert copied.code == 0, copied.err
    done, rows = world.reset(group, "--topic", world.topic, "--to-offset", "5", "--execute")
    assert done.code == 0, done.err
    assert world.committed(group) == [f"{world.topic},0,5", f"{world.topic},1,5", f"{world.topic},2,0"]
    listed = world.kcli("groups", "list", "--type", protocol, "--format", "plain").out.decode()
    assert group in {line.split("\t")[0] for line in listed.splitlines()}


def test_E43_rows_of_topics_and_partitions_that_do_not_exist_fail_alone(world: World) -> None:
    group = f"g-{world.topic}"
    path = world.file(f"{world.topic}-gone,0,5\n{world.topic},0,20\n{world.topic},9,1\n")
    done, rows = world.reset(group, "--create", "--from-file", path, "--execute")
    assert done.code == 1
    assert [(row["partition"], row["result"]) for row in rows] == [(0, "reset"), (9, "failed"), (0, "failed")]
    assert world.committed(group) == [f"{world.topic},0,20"]
