"""Changes of a cluster as a whole: feature levels (KIP-584, 1022), quorum voters (KIP-853), and unregistering lost
brokers.

Any broker forwards them to the controller. Nothing is sent twice: after a lost response the outcome is unknown
(`ask_once`).
"""

from __future__ import annotations

from collections.abc import Mapping

from kcli import codes
from kcli.admin.cluster.cluster import cluster_id
from kcli.admin.cluster.quorum import METADATA, partition_of
from kcli.asking.ask import ask_anyone, ask_once
from kcli.errors import BrokerError, KcliError, UnsupportedVersion
from kcli.model import Address, Cluster
from kcli.proto.messages.add_raft_voter import AddRaftVoterRequest, Listener
from kcli.proto.messages.describe_quorum import DescribeQuorumRequest, PartitionData, TopicData
from kcli.proto.messages.remove_raft_voter import RemoveRaftVoterRequest
from kcli.proto.messages.unregister_broker import UnregisterBrokerRequest
from kcli.proto.messages.unregister_controller import UnregisterControllerRequest
from kcli.proto.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kcli.proto.schema import NO_ID
from kcli.values import Value, field

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
UPDATE_FEATURES, KINDS_SINCE = 57, 1
TIMEOUT_MS = 60_000


class Controller(Value):
    """A node of the quorum. `directory` is the id of its metadata directory, 16 zero bytes if not reported (before
    Kafka 3.9); `listeners` are its addresses, reported for voters only."""

    node: int = -1
    voter: bool = False
    leader: bool = False
    directory: bytes = NO_ID
    listeners: list[tuple[str, Address]] = field(factory=list)


async def update_features(
    cluster: Cluster, levels: Mapping[str, tuple[int, int]], *, dry_run: bool = False
) -> dict[str, KcliError | None]:
    """Set levels: feature to (level, UPGRADE, SAFE_DOWNGRADE or UNSAFE_DOWNGRADE); level 0 disables it.

    Brokers apply all of them or none; after an error every feature has that error. With `dry_run` they only validate.
    Raises UnsupportedVersion if a broker does not support this.
    """
    broker = await cluster.anyone()
    kinds = (await broker.versions()).get(UPDATE_FEATURES, (0, 0))[1] >= KINDS_SINCE
    if dry_run and not kinds:
        raise UnsupportedVersion(
            "this cluster cannot validate levels without setting them; that needs Kafka 3.3 or newer"
        )
    updates = [FeatureUpdateKey(feature=name, max_version_level=level) for name, (level, _) in levels.items()]
    for update in updates:
        how = levels[update.feature][1]
        if kinds:
            update.upgrade_type = how
        else:
            update.allow_downgrade = how != UPGRADE
    request = UpdateFeaturesRequest(timeout_ms=TIMEOUT_MS, feature_updates=updates, validate_only=dry_run)
    answer = await ask_once(broker, request)
    if answer.error_code:
        failed = BrokerError(codes.of(answer.error_code), "features", answer.error_message, api=request.api_key)
        return dict.fromkeys(levels, failed)
    results = {result.feature: result for result in answer.results}
    errors: dict[str, KcliError | None] = {}
    for name in levels:
        row = results.get(name)
        failed_one = row is not None and row.error_code
        errors[name] = (
            BrokerError(codes.of(row.error_code), name, row.error_message, api=request.api_key)
            if row and failed_one
            else None
        )
    return errors


async def controllers(cluster: Cluster) -> list[Controller]:
    """Return the voters and observers of the quorum, by id."""
    asked = TopicData(topic_name=METADATA, partitions=[PartitionData(partition_index=0)])
    answer = await ask_anyone(cluster, DescribeQuorumRequest(topics=[asked]))
    part = partition_of(answer)
    places = {
        node.node_id: [(listener.name, Address(listener.host, listener.port)) for listener in node.listeners]
        for node in answer.nodes
    }
    return sorted(
        (
            Controller(
                node=state.replica_id,
                voter=voter,
                leader=state.replica_id == part.leader_id,
                directory=state.replica_directory_id,
                listeners=places.get(state.replica_id, []),
            )
            for voter, some in ((True, part.current_voters), (False, part.observers))
            for state in some
        ),
        key=lambda controller: controller.node,
    )


async def add_voter(cluster: Cluster, voter: Controller) -> None:
    """Add a voter to the quorum; it must have caught up. Raises KcliError: DUPLICATE_VOTER, REQUEST_TIMED_OUT if the
    leader cannot reach it, UNSUPPORTED_VERSION if the voters are configured in a file (kraft.version 0)."""
    known = await cluster_id(cluster)
    answer = await ask_once(
        await cluster.anyone(),
        AddRaftVoterRequest(
            cluster_id=known,
            timeout_ms=TIMEOUT_MS,
            voter_id=voter.node,
            voter_directory_id=voter.directory,
            listeners=[Listener(name=name, host=at.host, port=at.port) for name, at in voter.listeners],
        ),
        timeout=TIMEOUT_MS / 1000 + 5,
    )
    if answer.error_code:
        raise BrokerError(
            codes.of(answer.error_code), f"voter {voter.node}", answer.error_message, api=AddRaftVoterRequest.api_key
        )


async def remove_voter(cluster: Cluster, voter: Controller) -> None:
    """Remove a voter from the quorum. Raises KcliError: VOTER_NOT_FOUND, UNSUPPORTED_VERSION as in `add_voter`."""
    known = await cluster_id(cluster)
    answer = await ask_once(
        await cluster.anyone(),
        RemoveRaftVoterRequest(cluster_id=known, voter_id=voter.node, voter_directory_id=voter.directory),
    )
    if answer.error_code:
        raise BrokerError(
            codes.of(answer.error_code), f"voter {voter.node}", answer.error_message, api=RemoveRaftVoterRequest.api_key
        )


async def unregister_broker(cluster: Cluster, node: int) -> None:
    """Unregister a broker. Raises KcliError: BROKER_ID_NOT_REGISTERED."""
    answer = await ask_once(await cluster.anyone(), UnregisterBrokerRequest(broker_id=node))
    if answer.error_code:
        raise BrokerError(
            codes.of(answer.error_code), f"broker {node}", answer.error_message, api=UnregisterBrokerRequest.api_key
        )


async def unregister_controller(cluster: Cluster, node: int) -> None:
    """Unregister a controller. Raises KcliError: CONTROLLER_ID_NOT_REGISTERED, UnsupportedVersion before Kafka 4.4."""
    answer = await ask_once(await cluster.anyone(), UnregisterControllerRequest(controller_id=node))
    if answer.error_code:
        api = UnregisterControllerRequest.api_key
        raise BrokerError(codes.of(answer.error_code), f"controller {node}", answer.error_message, api=api)
