"""Plans of `kcli reassign`: even, spread over racks, and no more moved than that takes."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from kcli.admin.reassign.balance import Wish, plan
from kcli.errors import UsageError
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from kcli.admin.reassign.reassignments import Assignment


def spread(topic: str, partitions: int, brokers: list[int], replicas: int, first: int = 0) -> Assignment:
    """As Kafka places a new topic."""
    return {
        TopicPartition(topic, p): [brokers[(first + p + r) % len(brokers)] for r in range(replicas)]
        for p in range(partitions)
    }


def moved(before: Assignment, after: Assignment) -> int:
    """Replicas that have to be copied."""
    return sum(len(set(after[at]) - set(before[at])) for at in before)


def counts(some: Assignment, brokers: list[int], *, leaders: bool = False) -> list[int]:
    found = Counter(node for replicas in some.values() for node in (replicas[:1] if leaders else replicas))
    return [found[node] for node in brokers]


def wish(*brokers: int, replication: int | None = None, even: bool = True) -> Wish:
    return Wish(brokers=dict.fromkeys(brokers), replication=replication, even=even)


def test_what_is_balanced_stays_as_it_is() -> None:
    before = spread("a", 12, [1, 2, 3, 4], 3) | spread("b", 4, [1, 2, 3, 4], 2, first=1)
    assert plan(before, wish(1, 2, 3, 4), {}) == before


def test_a_new_broker_gets_its_share_and_nothing_else_moves() -> None:
    before = spread("a", 12, [1, 2, 3], 2)
    after = plan(before, wish(1, 2, 3, 4), {})
    assert counts(after, [1, 2, 3, 4]) == [6, 6, 6, 6]
    assert counts(after, [1, 2, 3, 4], leaders=True) == [3, 3, 3, 3]
    assert moved(before, after) == 6  # exactly what the new one is to have
    assert all(len(set(replicas)) == 2 for replicas in after.values())


def test_a_broker_that_goes_leaves_only_its_own_replicas_to_be_moved() -> None:
    before = spread("a", 12, [1, 2, 3, 4], 3)
    after = plan(before, wish(1, 2, 3), {})
    assert moved(before, after) == 9
    assert counts(after, [1, 2, 3]) == [12, 12, 12]
    assert counts(after, [1, 2, 3], leaders=True) == [4, 4, 4]


def test_the_last_copy_moves_when_its_broker_goes() -> None:
    before = {TopicPartition("a", 0): [3], TopicPartition("a", 1): [1]}
    assert plan(before, wish(1, 2), {}) == {TopicPartition("a", 0): [2], TopicPartition("a", 1): [1]}


def test_more_and_fewer_replicas() -> None:
    before = spread("a", 6, [1, 2, 3], 1)
    more = plan(before, wish(1, 2, 3, replication=3), {})
    assert counts(more, [1, 2, 3]) == [6, 6, 6]
    assert moved(before, more) == 12
    assert counts(more, [1, 2, 3], leaders=True) == [2, 2, 2]
    fewer = plan(more, wish(1, 2, 3, replication=2), {})
    assert counts(fewer, [1, 2, 3]) == [4, 4, 4]
    assert moved(more, fewer) == 0
    assert all(fewer[at][0] == more[at][0] for at in more)  # nobody loses his leader for it


def test_more_replicas_than_brokers_are_refused() -> None:
    with pytest.raises(UsageError, match="3 replicas need 3 brokers, but only 2"):
        plan(spread("a", 2, [1, 2, 3], 3), wish(1, 2), {})


def test_no_two_replicas_in_one_rack_where_that_can_be() -> None:
    racks: dict[int, str | None] = {1: "x", 2: "x", 3: "y", 4: "y", 5: "z", 6: "z"}
    before = {TopicPartition("a", p): [1, 2, 3] if p % 2 else [3, 4, 1] for p in range(12)}
    after = plan(before, Wish(brokers=racks), {})
    assert all(len({racks[node] for node in replicas}) == 3 for replicas in after.values())
    assert counts(after, list(racks)) == [6] * 6
    assert counts(after, list(racks), leaders=True) == [2] * 6
    assert plan(before, Wish(brokers=dict.fromkeys(racks)), {}) != after


def test_racks_of_different_sizes_are_still_spread() -> None:
    racks: dict[int, str | None] = {1: "x", 2: "y", 3: "y", 4: "y"}
    after = plan(spread("a", 9, [2, 3, 4], 2), Wish(brokers=racks), {})
    assert all(len({racks[node] for node in replicas}) == 2 for replicas in after.values())
    assert counts(after, [1, 2, 3, 4]) == [9, 3, 3, 3]


def test_more_replicas_than_racks_are_shared_out_evenly() -> None:
    racks: dict[int, str | None] = {1: "x", 2: "x", 3: "y", 4: "y"}
    after = plan(spread("a", 4, [1, 2, 3], 3), Wish(brokers=racks), {})
    for replicas in after.values():
        assert sorted(Counter(racks[node] for node in replicas).values()) == [1, 2]


def test_of_two_that_could_move_the_smaller_does() -> None:
    before = {TopicPartition("a", p): [1] for p in range(3)} | {TopicPartition("a", 3): [2]}
    sizes = {TopicPartition("a", p): size for p, size in enumerate([900, 10, 500, 1])}
    after = plan(before, wish(1, 2), sizes)
    assert [at.partition for at in before if after[at] != before[at]] == [1]


def test_only_what_has_to_move_does() -> None:
    before = spread("a", 9, [1, 2, 3], 2)
    assert plan(before, wish(1, 2, 3, 4, even=False), {}) == before
    after = plan(before, wish(1, 2, 4, even=False), {})
    assert all(after[at] == before[at] for at in before if 3 not in before[at])
    assert moved(before, after) == 6


def test_leaders_become_even_without_a_byte_moved() -> None:
    before = {TopicPartition("a", p): [1, 2, 3] for p in range(9)}
    after = plan(before, wish(1, 2, 3), {})
    assert moved(before, after) == 0
    assert counts(after, [1, 2, 3], leaders=True) == [3, 3, 3]


def test_a_crowded_topic_is_thinned_out_though_all_together_are_even() -> None:
    before = {TopicPartition("a", p): [1] for p in range(6)} | {TopicPartition("b", p): [2] for p in range(6)}
    after = plan(before, wish(1, 2), {})
    assert [counts({at: after[at] for at in after if at.topic == t}, [1, 2]) for t in "ab"] == [[3, 3], [3, 3]]
    assert moved(before, after) == 6


def test_small_topics_are_even_together() -> None:
    """Each topic for itself is as even as it can be on broker 1 alone."""
    before = {TopicPartition(f"t{n}", 0): [1] for n in range(9)}
    after = plan(before, wish(1, 2, 3), {})
    assert counts(after, [1, 2, 3]) == [3, 3, 3]
    assert moved(before, after) == 6


@pytest.mark.parametrize("seed", range(60))
def test_whatever_it_begins_with_ends_even_spread_and_unmoved_by_a_second_run(seed: int) -> None:
    chance = random.Random(seed)
    brokers = chance.sample(range(1, 20), chance.randint(3, 7))
    racks: dict[int, str | None] = {node: f"r{i % 3}" if seed % 2 else None for i, node in enumerate(brokers)}
    gone = [30, 31]
    before: Assignment = {}
    for number in range(chance.randint(1, 5)):
        many = chance.randint(1, 3)
        for partition in range(chance.randint(1, 15)):
            before[TopicPartition(f"t{number}", partition)] = chance.sample([*brokers, *gone], many)
    after = plan(before, Wish(brokers=racks), {})
    for at, replicas in after.items():
        assert len(set(replicas)) == len(replicas) == len(before[at])
        assert set(replicas) <= set(brokers)
        if seed % 2:
            assert len({racks[node] for node in replicas}) == len(replicas)
    if not seed % 2:
        for topic in {at.topic for at in before}:
            per = counts({at: after[at] for at in after if at.topic == topic}, brokers)
            assert max(per) <= -(-sum(per) // len(per)) + 1
        assert max(counts(after, brokers)) - min(counts(after, brokers)) <= 1
    assert moved(after, plan(after, Wish(brokers=racks), {})) == 0


@pytest.mark.parametrize("racks", [{1: "a", 2: "b"}, {1: None, 2: None}, {1: "a", 2: "a"}])
def test_a_broker_that_is_named_twice_has_one_replica(racks: dict[int, str | None]) -> None:
    """What a broker says is not checked by it."""
    after = plan({TopicPartition("a", 0): [1, 1, 1], TopicPartition("a", 1): [2, 1, 2]}, Wish(brokers=racks), {})
    assert sorted(map(len, after.values())) == [1, 2]
    assert all(len(set(replicas)) == len(replicas) for replicas in after.values())


@pytest.mark.slow
def test_a_large_cluster_is_planned_in_seconds() -> None:
    brokers = list(range(1, 31))
    before: Assignment = {}
    for number in range(400):
        before |= spread(f"t{number:03}", 12, brokers[:28], 3, first=number)
    begun = time.process_time()
    after = plan(before, wish(*brokers), {})
    assert time.process_time() - begun < 20
    assert max(counts(after, brokers)) - min(counts(after, brokers)) <= 1
    assert moved(before, after) <= 1.02 * 2 * 400 * 12 * 3 / 30
