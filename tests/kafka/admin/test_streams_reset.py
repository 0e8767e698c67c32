"""`kcli streams reset` beside Kafka's own StreamsResetter: two applications that are alike, each reset by one of the
tools, have the same offsets and topics afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from tests.kafka.cluster import Kafka
from tests.programs import Result, kcli, until

BASE = 1_700_000_000_000  # ms: 2023-11-14T22:13:20Z
INTERNAL = (
    "store-changelog", "by-word-repartition", "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic",
    "join-KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic", "fk-subscription-response-topic",
)  # fmt: skip
OTHERS = ("output", "changelog-archive", "x-changelog-2")
FORMS = [
    (),
    ("--to-earliest",),
    ("--to-latest",),
    ("--to-offset", "7"),
    ("--to-offset", "5000"),
    ("--shift-by", "-3"),
    ("--to-datetime", "2023-11-14T22:13:25.500"),
    ("--from-file", "offsets.csv"),
]


class Applications:
    """Two applications on one cluster: an input and an intermediate topic each, internal topics and others."""

    def __init__(self, kafka: Kafka, name: str, folder: Path) -> None:
        self.kafka, self.folder, self.name = kafka, folder, name
        self.ours, self.theirs = f"a-{name}", f"b-{name}"
        self.input, self.middle = f"in-{name}", f"mid-{name}"
        self.ok("topics", "create", self.input, self.middle, "-p", "2", "--config", "retention.ms=-1", "--wait")
        lines = [{"partition": n % 2, "timestamp": BASE + 1000 * n, "value": str(n)} for n in range(20)]
        text = "\n".join(map(json.dumps, lines)).encode()
        for topic in (self.input, self.middle):
            self.ok("produce", topic, "--input", "json", stdin=text)
        self.ok("topics", "trim", f"{self.input}:0", "--before", "2", "--execute")
        made = [f"{app}-{name}" for app in (self.ours, self.theirs) for name in (*INTERNAL, *OTHERS)]
        self.ok("topics", "create", *made, "-p", "1", "--wait")
        for app in (self.ours, self.theirs):
            self.commit(app)

    def run(self, *words: str, stdin: bytes = b"") -> Result:
        return kcli(*words, "-b", self.kafka.bootstrap, stdin=stdin, env={"XDG_STATE_HOME": str(self.folder)})

    def ok(self, *words: str, stdin: bytes = b"") -> Result:
        done = self.run(*words, stdin=stdin)
        assert done.code == 0, (words, done.err, done.out)
        return done

    def commit(self, app: str) -> None:
        path = self.folder / f"{app}.csv"
        path.write_text("".join(f"{topic},{n},{5 + n}\n" for topic in (self.input, self.middle) for n in (0, 1)))
        self.ok("groups", "reset", app, "--create", "--from-file", str(path), "--execute", "--no-undo")

    def abandon(self, app: str, protocol: str) -> None:
        """A member reads, stops and does not leave, as it is a static one."""
        settings = {"bootstrap.servers": self.kafka.bootstrap, "group.id": app, "group.protocol": protocol}
        sessions = {"session.timeout.ms": 120_000} if protocol == "classic" else {}
        member = Consumer({**settings, **sessions, "group.instance.id": "one", "enable.auto.commit": False})
        member.subscribe([self.input])
        until(lambda: member.poll(0.2) is not None)
        member.close()

    def committed(self, app: str) -> list[str]:
        return sorted(self.ok("groups", "export", app).out.decode().splitlines())

    def topics(self, app: str) -> set[str]:
        listed = json.loads(self.ok("topics", "list", "-J").out)["topics"]
        return {row["topic"].removeprefix(f"{app}-") for row in listed if row["topic"].startswith(f"{app}-")}

    def resetter(self, *words: str) -> str:
        """What Kafka's own tool prints."""
        return self.kafka.tool(
            "org.apache.kafka.tools.StreamsResetter",
            "--bootstrap-server", self.kafka.bootstrap, "--application-id", self.theirs, *words,
        )  # fmt: skip


@pytest.fixture
def both(kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path) -> Applications:
    return Applications(kafka, topic_name(), tmp_path)


def test_each_form_resets_what_kafkas_own_tool_resets(both: Applications) -> None:
    named = ("--input-topics", both.input, "--intermediate-topics", both.middle)
    path = both.folder / "offsets.csv"
    path.write_text(f"{both.input},0,1\n{both.input},1,8\n")
    for words in FORMS:
        form = tuple(str(path) if word == path.name else word for word in words)
        for app in (both.ours, both.theirs):
            both.commit(app)
        both.ok("streams", "reset", both.ours, *named, *form, "--keep-internal-topics", "--execute")
        said = both.resetter(*named, *form)
        assert both.committed(both.ours) == both.committed(both.theirs), (form, said)
    gone = json.loads(both.ok("streams", "reset", both.ours, "--execute", "-J").out)["topics"]
    assert {row["topic"].removeprefix(f"{both.ours}-") for row in gone} == set(INTERNAL)
    assert both.topics(both.ours) == both.topics(both.theirs) == set(OTHERS)


def test_the_plan_changes_nothing_and_an_undo_restores_the_offsets_alone(both: Applications) -> None:
    before = both.committed(both.ours)
    plan = both.ok("streams", "reset", both.ours, "--all-topics", "--input-topic", both.input, "-J")
    document = json.loads(plan.out)
    assert {(row["topic"], row["partition"], row["old"], row["new"]) for row in document["partitions"]} == {
        (both.input, 0, 5, 2), (both.input, 1, 6, 0), (both.middle, 0, 5, 0), (both.middle, 1, 6, 0),
    }  # fmt: skip
    assert {row["result"] for row in document["topics"]} == {"would delete"}
    assert both.committed(both.ours) == before
    assert both.topics(both.ours) == {*INTERNAL, *OTHERS}
    done = both.ok("streams", "reset", both.ours, "--all-topics", "--internal-topic", f"{both.ours}-{INTERNAL[0]}",
                   "--execute")  # fmt: skip
    assert "1 internal topic with all records cannot be restored; undo restores only offsets" in done.err
    assert both.topics(both.ours) == {*INTERNAL[1:], *OTHERS}
    number = json.loads(kcli("history", "-J", env={"XDG_STATE_HOME": str(both.folder)}).out)["changes"][0]["number"]
    both.ok("undo", str(number), "--execute")
    assert both.committed(both.ours) == before
    assert both.topics(both.ours) == {*INTERNAL[1:], *OTHERS}


def test_what_cannot_be_reset_is_refused_as_a_whole(both: Applications) -> None:
    missing = both.run("streams", "reset", both.ours, "--input-topic", f"{both.input}x", "--execute")
    assert missing.code == 1
    assert f"{both.input}x: this topic does not exist; did you mean {both.input}" in missing.err
    strange = both.run("streams", "reset", both.ours, "--internal-topic", f"{both.ours}-output", "--execute")
    assert strange.code == 2
    assert "not an internal topic of this application" in strange.err
    assert both.run("streams", "reset", "nobody", "--execute").code == 1
    assert both.topics(both.ours) == {*INTERNAL, *OTHERS}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_force_removes_members_that_did_not_leave_as_kafkas_own_tool_does(both: Applications, protocol: str) -> None:
    words = ("--input-topics", both.input, "--to-offset", "3")
    for app in (both.ours, both.theirs):
        both.abandon(app, protocol)
    refused = both.run("streams", "reset", both.ours, *words, "--execute")
    assert refused.code == 1
    assert "with 1 member" in refused.err
    planned = json.loads(both.ok("streams", "reset", both.ours, *words, "--force", "-J").out)
    assert [(row["instance_id"], row["result"]) for row in planned["members"]] == [("one", "would remove")]
    assert len(json.loads(both.ok("groups", "members", both.ours, "-J").out)["members"]) == 1
    done = both.ok("streams", "reset", both.ours, *words, "--force", "--execute")
    assert "1 member removed, 2 offsets reset, 5 internal topics deleted" in done.err
    said = both.resetter(*words, "--force")
    assert both.committed(both.ours) == both.committed(both.theirs), said
    assert both.topics(both.ours) == both.topics(both.theirs) == set(OTHERS)


def test_a_file_of_offsets_is_about_the_input_topics_and_all_of_their_partitions(both: Applications) -> None:
    before, path = both.committed(both.ours), both.folder / "some.csv"
    words = ("streams", "reset", both.ours, "--input-topic", both.input, "--from-file", str(path), "--execute")
    path.write_text(f"{both.input},0,3\n")
    partial = both.run(*words)
    assert partial.code == 1
    assert f"{both.input} [1]: the file has no offset of this partition" in partial.err
    path.write_text(f"{both.input},0,3\n{both.input},1,3\n{both.middle},0,3\n")
    other = both.run(*words)
    assert other.code == 2
    assert f"has an offset of {both.middle} [0], which is not an input topic" in other.err
    assert both.committed(both.ours) == before
    assert both.topics(both.ours) == {*INTERNAL, *OTHERS}
