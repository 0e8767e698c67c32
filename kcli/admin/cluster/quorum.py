"""The KRaft quorum and the enabled features (KIP-595, KIP-584)."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_anyone
from kcli.errors import BrokerError, DecodeError, KcliError, TooOld, UnsupportedVersion
from kcli.model import Cluster
from kcli.proto.messages.api_versions import versions_request
from kcli.proto.messages.describe_quorum import (
    AnsweredPartitionData,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kcli.values import Value, field

METADATA = "__cluster_metadata"
PATIENCE = 5.0  # seconds; without a leader, a broker responds only after its own request to the controllers expires


class Voter(Value):
    """A node of the quorum: a voter votes, an observer (a broker) only follows. `lag` is in records of the metadata
    log; `fetched` and `caught_up` are ms since the epoch, -1 if not reported."""

    node: int = 0
    voter: bool = True
    leader: bool = False
    end: int = 0
    lag: int = 0
    fetched: int = -1
    caught_up: int = -1


class Quorum(Value):
    """The quorum: its leader, its epoch, and all voters and observers."""

    leader: int = -1
    epoch: int = 0
    high_watermark: int = 0
    nodes: list[Voter] = field(factory=list)


class Feature(Value):
    """A feature: its finalized level (None: off), and the levels that the asked broker supports."""

    name: str = ""
    level: int | None = None
    lowest: int = 0
    highest: int = 0


def partition_of(answer: DescribeQuorumResponse) -> AnsweredPartitionData:
    """Return the row of the quorum's only partition. Raises BrokerError, and DecodeError if the row is missing."""
    if answer.error_code:
        raise BrokerError(
            codes.of(answer.error_code), "quorum", answer.error_message, api=DescribeQuorumRequest.api_key
        )
    part = next((part for topic in answer.topics for part in topic.partitions), None)
    if part is None:
        raise DecodeError("the broker's response does not contain the quorum")
    if part.error_code:
        raise BrokerError(codes.of(part.error_code), "quorum", part.error_message)
    return part


async def describe_quorum(cluster: Cluster) -> Quorum:
    """Describe the quorum; any broker responds. Raises UnsupportedVersion if the cluster uses ZooKeeper, BrokerError if
    access is denied."""
    asked = TopicData(topic_name=METADATA, partitions=[PartitionData(partition_index=0)])
    answer = await ask_anyone(cluster, DescribeQuorumRequest(topics=[asked]))
    part = partition_of(answer)
    end = next((voter.log_end_offset for voter in part.current_voters if voter.replica_id == part.leader_id), 0)
    nodes = [
        Voter(
            node=state.replica_id,
            voter=voter,
            leader=state.replica_id == part.leader_id,
            end=state.log_end_offset,
            lag=max(end - state.log_end_offset, 0),
            fetched=state.last_fetch_timestamp,
            caught_up=state.last_caught_up_timestamp,
        )
        for voter, some in ((True, part.current_voters), (False, part.observers))
        for state in some
    ]
    return Quorum(leader=part.leader_id, epoch=part.leader_epoch, high_watermark=part.high_watermark, nodes=nodes)


async def controller_of(cluster: Cluster, named: int) -> int:
    """Return the id of the controller, -1 if unknown. `named` is the controller in a Metadata response.

    In KRaft a Metadata response names a random broker, so the leader of the quorum is requested. Only brokers that use
    ZooKeeper do not support that, and they name the controller in Metadata.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            return (await describe_quorum(cluster)).leader
    except (UnsupportedVersion, TooOld):
        return named
    except (KcliError, TimeoutError):  # not permitted, or no leader at the moment
        return -1


async def features(cluster: Cluster) -> list[Feature]:
    """Return all features by name, as reported by one broker."""
    answer = await ask_anyone(cluster, versions_request())
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), "features")
    levels = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    features = {
        feature.name: Feature(
            name=feature.name, level=levels.get(feature.name), lowest=feature.min_version, highest=feature.max_version
        )
        for feature in answer.supported_features
    }
    for name, level in levels.items():
        features.setdefault(name, Feature(name=name, level=level))
    return [features[name] for name in sorted(features)]
