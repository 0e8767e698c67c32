"""`kcli undo N` on a real Apache Kafka: its own tools read the state before a change, after it, and after the undo."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from tests.kafka.cluster import Kafka
from tests.programs import Result, kcli

CONFIGS = "org.apache.kafka.tools.ConfigCommand"
TOPICS = "org.apache.kafka.tools.TopicCommand"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPIC = (CONFIGS, "--describe --entity-type topics --entity-name T")
CHANGES = {
    "configs set topic T retention.ms=86400000 cleanup.policy=compact": TOPIC,
    "configs unset topic T segment.ms": TOPIC,
    "configs append topic T cleanup.policy=compact": TOPIC,
    "topics alter T --config retention.ms=86400000": TOPIC,
    "quotas alter --user T producer_byte_rate=1000": (CONFIGS, "--describe --entity-type users --entity-name T"),
    "groups reset T -t T --to-latest": (GROUPS, "--describe --group T --offsets"),
    "groups delete-offsets T -t T:0": (GROUPS, "--describe --group T --offsets"),
    "groups delete T": (GROUPS, "--describe --group T --offsets"),
}  # fmt: skip


class World:
    """A topic with records, a config and a group of its own name; a journal of its own."""

    def __init__(self, kafka: Kafka, folder: Path) -> None:
        self._kafka, self._folder = kafka, folder
        self.topic = f"undo-{uuid4().hex[:12]}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self, "_folder", folder / "before")
            self.run("topics create T -p 2 -r 1 --config segment.ms=700000 -q")
            for partition in (0, 1):
                self.run(f"produce T -p {partition} --value a --value b -q")
            self.run("groups reset T -t T --to 0=1,1=0 --create --execute -q")

    def run(self, line: str, code: int = 0) -> Result:
        words = [word.replace("T", self.topic) if word in ("T", "T:0") else word for word in line.split()]
        done = kcli(*words, env={"XDG_STATE_HOME": str(self._folder), "KCLI_BOOTSTRAP": self._kafka.bootstrap})
        assert done.code == code, done.err + done.out.decode()
        return done

    def theirs(self, tool: str, line: str) -> list[str]:
        """What Kafka's tool prints, without what it says around it."""
        words = [self.topic if word == "T" else word for word in line.split()]
        told = self._kafka.tool(tool, "--bootstrap-server", self._kafka.bootstrap, *words)
        return sorted(line.strip() for line in told.splitlines() if self.topic in line or "=" in line)


@pytest.fixture
def world(kafka: Kafka, tmp_path: Path) -> World:
    return World(kafka, tmp_path)


@pytest.mark.parametrize("change", CHANGES, ids=lambda line: "-".join(line.split()[:2]))
def test_a_change_is_undone_by_its_number_as_kafkas_tools_see_it(change: str, world: World) -> None:
    oracle = CHANGES[change]
    before = world.theirs(*oracle)
    said = world.run(f"{change} --execute").err
    changed = world.theirs(*oracle)
    assert changed != before
    assert "to undo this: kcli undo 1 --execute" in said
    (one,) = json.loads(world.run("history -J").out)["changes"]
    assert (one["result"], one["undoable"]) == ("done", True)
    world.run("undo 1 --execute")
    assert world.theirs(*oracle) == before
    world.run("undo 2 --execute")
    if change != "groups delete T":  # the group stays, without offsets
        assert world.theirs(*oracle) == changed


def test_what_kafkas_tool_changed_since_needs_force(world: World, kafka: Kafka) -> None:
    world.run("configs set topic T retention.ms=86400000 --execute")
    world.theirs(CONFIGS, "--alter --entity-type topics --entity-name T --add-config retention.ms=5000")
    said = world.run("undo 1 --execute", code=2).err
    assert "retention.ms is 5000 now; change 1 left 86400000" in said
    world.run("undo 1 --execute --force")
    assert not any("retention.ms" in line for line in world.theirs(*TOPIC))


def test_a_new_topic_goes_again_and_one_with_records_needs_force(world: World, kafka: Kafka) -> None:
    new = f"{world.topic}-new"
    world.run(f"topics create {new} -p 3")
    world.run(f"produce {new} --value x -q")
    assert f"topic {new} was changed again (records: 1 now" in world.run("undo 1 --execute", code=2).err
    world.run("undo 1 --execute --force")
    assert new not in kafka.tool(TOPICS, "--bootstrap-server", kafka.bootstrap, "--list").split()
