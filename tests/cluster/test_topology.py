"""What is known, from metadata answers and hints: epochs, errors, recreated topics (C5-C7, C20), without any I/O."""

from __future__ import annotations

from kcli import codes
from kcli.cluster.metadata import RefreshLimit
from kcli.cluster.topology import REWINDS, Topology
from kcli.model import Node, TopicPartition
from kcli.proto.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kcli.proto.schema import NO_ID

AT = TopicPartition("t", 0)
A, B = b"a" * 16, b"b" * 16


def says(
    leader: int, epoch: int, *, topic_id: bytes = NO_ID, error: int = 0, topic_error: int = 0, cluster: str = "c"
) -> MetadataResponse:
    partition = MetadataResponsePartition(error_code=error, leader_id=leader, leader_epoch=epoch)
    topic = MetadataResponseTopic(error_code=topic_error, name="t", topic_id=topic_id, partitions=[partition])
    brokers = [MetadataResponseBroker(node_id=n, host="h", port=n) for n in (1, 2, 3)]
    return MetadataResponse(brokers=brokers, topics=[topic], cluster_id=cluster)


def known(*answers: MetadataResponse, reliable: bool = True) -> Topology:
    topology = Topology()
    for answer in answers:
        topology.update(answer, reliable_epochs=reliable)
    return topology


def lead(topology: Topology) -> tuple[int, int]:
    partition = topology.partition(AT)
    assert partition is not None
    return partition.leader, partition.epoch


def test_C5_an_older_epoch_is_ignored_and_an_equal_or_newer_one_accepted() -> None:
    topology = known(says(1, 5))
    assert topology.update(says(2, 4), reliable_epochs=True) == set()
    assert lead(topology) == (1, 5)
    assert topology.update(says(2, 5), reliable_epochs=True) == {"t"}
    assert lead(topology) == (2, 5)
    topology.update(says(3, 6), reliable_epochs=True)
    assert lead(topology) == (3, 6)


def test_C5_repeated_rewinds_are_believed_in_the_end() -> None:
    topology = known(says(1, 5), *[says(2, 4)] * REWINDS)
    assert lead(topology) == (1, 5)
    topology.update(says(2, 4), reliable_epochs=True)
    assert lead(topology) == (2, 4)


def test_C5_rewinds_with_the_truth_between_them_are_not_counted_together() -> None:
    topology = known(says(1, 5), *[says(2, 4), says(1, 5)] * (REWINDS * 2))
    assert lead(topology) == (1, 5)


def test_C5_another_topic_of_the_same_name_begins_anew() -> None:
    topology = known(says(1, 5, topic_id=A), says(2, 0, topic_id=B))
    assert lead(topology) == (2, 0)
    assert (topology.name_of(A), topology.name_of(B)) == (None, "t")


def test_C5_an_epoch_may_go_back_when_the_old_id_was_unknown() -> None:
    assert lead(known(says(1, 5), says(2, 0, topic_id=A))) == (2, 0)
    assert lead(known(says(1, 5, topic_id=A), says(2, 4))) == (1, 5)  # an answer without ids proves nothing


def test_C5_epochs_before_metadata_9_count_as_unknown() -> None:
    topology = known(says(1, 5), says(2, 3), reliable=False)
    assert lead(topology) == (2, -1)


def test_C6_a_topic_or_partition_missing_from_one_answer_is_not_gone() -> None:
    topology = known(says(1, 5), MetadataResponse(brokers=[], topics=[]))
    assert lead(topology) == (1, 5)
    assert set(topology.nodes) == {1, 2, 3}
    topology.update(
        MetadataResponse(topics=[MetadataResponseTopic(name="t", error_code=codes.UNKNOWN_TOPIC_OR_PARTITION.number)]),
        reliable_epochs=True,
    )
    assert lead(topology) == (1, 5)


def test_C6_a_partition_in_trouble_keeps_its_leader_until_somebody_else_is_elected() -> None:
    trouble = codes.LEADER_NOT_AVAILABLE.number
    topology = known(says(1, 5), says(-1, 5, error=trouble))
    assert lead(topology) == (1, 5)
    topology.update(says(-1, 6, error=trouble), reliable_epochs=True)
    assert lead(topology) == (-1, 6)


def test_C7_a_newer_hint_is_believed_at_once() -> None:
    topology = known(says(1, 5))
    assert topology.hint(AT, 2, 6, None)
    assert lead(topology) == (2, 6)
    assert topology.hint(AT, 2, 6, None)  # the second request that was under way says the same
    assert not topology.hint(AT, 3, 5, None)
    assert not topology.hint(AT, 3, 6, None)
    assert lead(topology) == (2, 6)


def test_C7_a_hint_to_a_stranger_needs_its_address() -> None:
    topology = known(says(1, 5))
    assert not topology.hint(AT, 9, 6, None)
    assert not topology.hint(AT, -1, 6, None)
    assert not topology.hint(TopicPartition("other", 0), 1, 6, None)
    assert topology.hint(AT, 9, 6, Node(9, "nine", 9, None))
    assert topology.nodes[9].host == "nine"
    assert topology.nodes[1].host == "h"  # the others are left alone


def test_C16_another_cluster_behind_the_same_name_has_epochs_of_its_own() -> None:
    topology = known(says(1, 50), says(2, 0, cluster="new"))
    assert lead(topology) == (2, 0)


def test_C4_the_pace_of_questions_slows_down_while_nothing_changes() -> None:
    pace = RefreshLimit(0.1, 1.0)
    now, waits = 100.0, []
    assert pace.wait(["t"], now) == 0
    for _ in range(6):
        pace.asked(["t"], now, [])
        waits.append(pace.wait(["t"], now))
        now += waits[-1]
    for n, wait in enumerate(waits):
        assert 0.8 * min(0.1 * 2**n, 1) <= wait + 1e-9  # now is a float
        assert wait - 1e-9 <= 1.2 * min(0.1 * 2**n, 1)
    assert pace.wait(["new", "t"], now - 0.05) == 0  # one that was never asked about waits for nobody
    pace.asked(["t"], now, ["t"])
    assert pace.wait(["t"], now) <= 0.12
    pace.asked(["t"], now + 60, [])  # a long time without questions is forgiven
    assert pace.wait(["t"], now + 60) <= 0.12
