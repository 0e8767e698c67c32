"""A read-only or protected profile: what each API is, and that none is forgotten."""

from __future__ import annotations

import pkgutil

import pytest

from kcli.broker.guard import READING, WORKING, check
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.proto import messages
from kcli.proto.messages import REQUESTS, request_type
from kcli.proto.messages.metadata import MetadataRequest, MetadataRequestTopic
from kcli.proto.messages.offset_commit import OffsetCommitRequest
from kcli.proto.one_batch import OneBatchRequest
from tests.each import each

DESTROYING = {
    20: "DeleteTopics", 21: "DeleteRecords", 27: "WriteTxnMarkers", 30: "CreateAcls", 31: "DeleteAcls",
    33: "AlterConfigs", 34: "AlterReplicaLogDirs", 37: "CreatePartitions", 40: "ExpireDelegationToken",
    42: "DeleteGroups", 43: "ElectLeaders", 44: "IncrementalAlterConfigs", 45: "AlterPartitionReassignments",
    47: "OffsetDelete", 49: "AlterClientQuotas", 51: "AlterUserScramCredentials", 57: "UpdateFeatures",
    64: "UnregisterBroker", 80: "AddRaftVoter", 81: "RemoveRaftVoter", 91: "AlterShareGroupOffsets",
    92: "DeleteShareGroupOffsets", 94: "UnregisterController",
}  # fmt: skip
"""What deletes or alters; whoever declares a new API decides here what it is."""


@each("key", REQUESTS)
def test_every_declared_API_is_one_of_three_kinds_by_its_own_name(key: int) -> None:
    names = [kind[key] for kind in (READING, WORKING, DESTROYING) if key in kind]
    assert names == [REQUESTS[key][1]]


def test_there_is_no_message_that_is_not_declared() -> None:
    assert {module.name for module in pkgutil.iter_modules(messages.__path__)} == {row[0] for row in REQUESTS.values()}


@each("key", REQUESTS)
def test_what_a_guard_lets_through(key: int) -> None:
    kind = request_type(key)
    assert kind is not None
    request = kind()
    for guard, allowed in (("read_only", key in READING), ("protected", key in READING or key in WORKING), ("", True)):
        if key == 8 and guard == "protected":
            continue  # by whom: see below
        if allowed:
            check(guard, "prod", request)
        else:
            with pytest.raises(UsageError, match=r"refused by (read-only|protected) profile prod"):
                check(guard, "prod", request)


def test_an_API_that_nobody_knows_is_refused_by_both() -> None:
    class StrangeRequest:
        api_key = 999

    for guard in ("read_only", "protected"):
        with pytest.raises(UsageError, match="Strange"):
            check(guard, "prod", StrangeRequest())  # type: ignore[arg-type]


def test_a_request_of_one_batch_is_refused_by_the_name_of_its_API() -> None:
    request = OneBatchRequest(TopicPartition("t", 0), bytes(16), b"", -1, 1000)
    with pytest.raises(UsageError, match="profile prod: Produce would change"):
        check("read_only", "prod", request)


def test_a_members_commit_goes_through_and_a_reset_does_not() -> None:
    check("protected", "prod", OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=3))
    with pytest.raises(UsageError):
        check("protected", "prod", OffsetCommitRequest(group_id="g", generation_id_or_member_epoch=-1))


def test_a_question_that_may_create_topics_is_refused_when_reading_only() -> None:
    topics = [MetadataRequestTopic(name="t")]
    check("read_only", "prod", MetadataRequest(topics=topics, allow_auto_topic_creation=False))
    check("read_only", "prod", MetadataRequest(topics=[]))
    with pytest.raises(UsageError):
        check("read_only", "prod", MetadataRequest(topics=topics, allow_auto_topic_creation=True))


@pytest.mark.parametrize("key", [19, 33, 37, 44, 49, 57])
def test_a_plan_that_the_broker_only_checks_passes_both(key: int) -> None:
    kind = request_type(key)
    assert kind is not None
    for guard in ("read_only", "protected"):
        check(guard, "prod", kind(validate_only=True))  # type: ignore[call-arg]
