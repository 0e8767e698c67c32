"""Groups whose coordinator is killed, and members that are frozen: what was acknowledged stays, what was given to
another stays another's, and what nobody knows is said."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import ExitStack, closing

import pytest

from tests.kafka.cluster import Kafka
from tests.kafka.coordinator_log import Commit, history
from tests.kafka.ownership import again
from tests.kafka.ownership import problems as broken
from tests.kafka.positions import Positions
from tests.kafka.positions import problems as steps_back
from tests.kafka.records.test_three_nodes import coordinator, create
from tests.kafka.storm import Command, Feed, Member, committed_and_end, prepare, wait_for
from tests.programs import kcli

PARTITIONS = 4
PROTOCOLS = ("range", "consumer")


class Party:
    """A group of two: one commits by hand after every poll and says how that went, one is `kcli consume -g`."""

    def __init__(self, kafka: Kafka, topic: str, protocol: str) -> None:
        self.kafka, self.topic, self.group = kafka, topic, f"g-{protocol}-{topic}"
        prepare(kafka, topic, self.group, protocol)
        self.member = Member(kafka, "kcli", topic, self.group, protocol, "each")
        self.command = Command(kafka, topic, self.group, protocol, f"command-{protocol}")
        self.positions = Positions(kafka, self.group, topic, PARTITIONS)

    def close(self) -> None:
        self.member.close()
        self.command.close()

    def commits(self, *how: str) -> list[Commit]:
        """By hand, as the member was told of them."""
        found = []
        for _, when, _, places, note in self.member.rows(*how):
            for place in places.split(","):
                partition, _, offset = place.partition("=")
                found.append(Commit(float(when), int(partition), int(offset), note))
        return found

    def progress(self, commits: int = 15, within: float = 60.0) -> None:
        """So many more commits are acknowledged, and both go on reading."""
        done, read = len(self.member.rows("done")) + commits, len(self.command.seen)
        wait_for(
            lambda: len(self.member.rows("done")) >= done and len(self.command.seen) > read, within,
            lambda: f"{self.group} does not go on: {self.member.process.err} {self.command.err}",
        )  # fmt: skip

    def verify(self, sent: int) -> None:
        ends = committed_and_end(self.kafka, self.topic, self.group)
        told = history(self.kafka.bootstrap, self.group, self.topic)
        seen = self.member.seen + self.command.seen
        found = broken(told, seen, {p: end for p, (_, end) in ends}, set(range(sent)), returns=True)
        done = self.commits("done")
        found += steps_back(self.positions.looks, [(one.time, one.partition, one.offset or 0) for one in done])
        there = {one[1:] for one in told if isinstance(one, Commit)}
        found += [f"acknowledged and lost: {one}" for one in done if one[1:] not in there]
        found += [f"refused and done: {one}" for one in self.commits("refused") if one[1:] in there]
        found += [f"partition {p}: {end} records, {done} committed" for p, (done, end) in ends if done != end]
        assert not found, f"{self.group}: {len(found)} broken promises: " + "; ".join(found[:10])
        assert again(seen) < sent / 2, "most of it came twice"


@pytest.mark.long
def test_F25_E40_E42_coordinators_killed_while_members_commit(kafka3: Kafka, topic_name: Callable[[], str]) -> None:
    topic = create(kafka3, topic_name(), PARTITIONS)
    with ExitStack() as running:
        parties = [running.enter_context(closing(Party(kafka3, topic, protocol))) for protocol in PROTOCOLS]
        feed = running.enter_context(Feed(kafka3, topic, 500))
        for party in parties:
            running.enter_context(party.positions)
            party.member.join()
            party.command.join()
        for party in parties:
            party.progress()
        for party in parties:
            coordinator(kafka3, party.group).kill()
            for each in parties:
                each.progress()
            kafka3.heal()
        feed.stop()
        for party in parties:
            wait_for(
                lambda party=party: len({one.number for one in party.member.seen + party.command.seen}) >= feed.sent,
                30.0, lambda party=party: f"{party.group} did not read all: {party.member.process.err}",
            )  # fmt: skip
            party.member.end()
            party.command.end()
    for party in parties:
        assert party.positions.looks
        party.verify(feed.sent)


@pytest.fixture
def frozen_topic(kafka: Kafka, topic_name: Callable[[], str]) -> str:
    name = topic_name()
    assert kcli("topics", "create", name, "-p", "4", "-b", kafka.bootstrap, "--wait").code == 0
    return name


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_E46_E53_E59_a_member_frozen_beyond_its_session_comes_back_and_commits_nothing_of_anothers(
    kafka: Kafka, frozen_topic: str, protocol: str
) -> None:
    topic, group = frozen_topic, f"g-{frozen_topic}"
    prepare(kafka, topic, group, protocol)
    with ExitStack() as running:
        frozen = running.enter_context(closing(Command(kafka, topic, group, protocol, "frozen")))
        other = running.enter_context(closing(Member(kafka, "confluent", topic, group, protocol)))
        feed = running.enter_context(Feed(kafka, topic, 1000))
        frozen.join()
        wait_for(lambda: {one.partition for one in frozen.seen} == set(range(4)), 20.0, lambda: frozen.err)
        other.join()
        wait_for(lambda: len({one.partition for one in other.seen}) == 2, 20.0, lambda: other.process.err)
        wait_for(lambda: len(frozen.seen) > 2000, 20.0, lambda: frozen.err)  # some of it is not committed yet
        feed.open = False
        wait_for(lambda: len(frozen.seen) + len(other.seen) >= feed.sent, 20.0, lambda: frozen.err)
        frozen.send(signal.SIGSTOP)  # while it waits for records, which come when it cannot see them
        feed.open = True
        # the other gets everything once the session (3 s) is over, and commits past where the frozen one stands
        wait_for(lambda: len({one.partition for one in other.seen}) == 4, 20.0, lambda: other.process.err)
        time.sleep(2.5)
        frozen.send(signal.SIGCONT)
        back, heard = time.time(), len(frozen.seen)
        wait_for(
            lambda: len([one for one in frozen.seen[heard:] if one.time > back + 1]) > 500, 20.0, lambda: frozen.err
        )
        feed.stop()
        wait_for(lambda: len({one.number for one in frozen.seen + other.seen}) >= feed.sent, 20.0, lambda: frozen.err)
        frozen.end()
        other.end()
    ends = committed_and_end(kafka, topic, group)
    told = history(kafka.bootstrap, group, topic)
    found = broken(told, frozen.seen + other.seen, {p: end for p, (_, end) in ends}, set(range(feed.sent)))
    found += [f"partition {p}: {end} records, {done} committed" for p, (done, end) in ends if done != end]
    assert not found, f"{len(found)} broken promises: " + "; ".join(found[:10])
    assert "partitions lost before their records were committed" in frozen.err
    assert again(frozen.seen + other.seen) > 0, "nothing was read and not committed: the test showed nothing"
