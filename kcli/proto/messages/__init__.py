"""One file per API; a message is imported on first use.

`REQUESTS` maps an API key to its module and name, so that a server can find what a header announces.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.proto.schema import Request

REQUESTS = {
    0: ("produce", "Produce"),
    1: ("fetch", "Fetch"),
    2: ("list_offsets", "ListOffsets"),
    3: ("metadata", "Metadata"),
    8: ("offset_commit", "OffsetCommit"),
    9: ("offset_fetch", "OffsetFetch"),
    10: ("find_coordinator", "FindCoordinator"),
    11: ("join_group", "JoinGroup"),
    12: ("heartbeat", "Heartbeat"),
    13: ("leave_group", "LeaveGroup"),
    14: ("sync_group", "SyncGroup"),
    15: ("describe_groups", "DescribeGroups"),
    16: ("list_groups", "ListGroups"),
    17: ("sasl_handshake", "SaslHandshake"),
    18: ("api_versions", "ApiVersions"),
    19: ("create_topics", "CreateTopics"),
    20: ("delete_topics", "DeleteTopics"),
    21: ("delete_records", "DeleteRecords"),
    22: ("init_producer_id", "InitProducerId"),
    23: ("offset_for_leader_epoch", "OffsetForLeaderEpoch"),
    24: ("add_partitions_to_txn", "AddPartitionsToTxn"),
    25: ("add_offsets_to_txn", "AddOffsetsToTxn"),
    26: ("end_txn", "EndTxn"),
    27: ("write_txn_markers", "WriteTxnMarkers"),
    28: ("txn_offset_commit", "TxnOffsetCommit"),
    29: ("describe_acls", "DescribeAcls"),
    30: ("create_acls", "CreateAcls"),
    31: ("delete_acls", "DeleteAcls"),
    32: ("describe_configs", "DescribeConfigs"),
    33: ("alter_configs", "AlterConfigs"),
    34: ("alter_replica_log_dirs", "AlterReplicaLogDirs"),
    35: ("describe_log_dirs", "DescribeLogDirs"),
    36: ("sasl_authenticate", "SaslAuthenticate"),
    37: ("create_partitions", "CreatePartitions"),
    38: ("create_delegation_token", "CreateDelegationToken"),
    39: ("renew_delegation_token", "RenewDelegationToken"),
    40: ("expire_delegation_token", "ExpireDelegationToken"),
    41: ("describe_delegation_token", "DescribeDelegationToken"),
    42: ("delete_groups", "DeleteGroups"),
    43: ("elect_leaders", "ElectLeaders"),
    44: ("incremental_alter_configs", "IncrementalAlterConfigs"),
    45: ("alter_partition_reassignments", "AlterPartitionReassignments"),
    46: ("list_partition_reassignments", "ListPartitionReassignments"),
    47: ("offset_delete", "OffsetDelete"),
    48: ("describe_client_quotas", "DescribeClientQuotas"),
    49: ("alter_client_quotas", "AlterClientQuotas"),
    50: ("describe_user_scram_credentials", "DescribeUserScramCredentials"),
    51: ("alter_user_scram_credentials", "AlterUserScramCredentials"),
    55: ("describe_quorum", "DescribeQuorum"),
    57: ("update_features", "UpdateFeatures"),
    60: ("describe_cluster", "DescribeCluster"),
    61: ("describe_producers", "DescribeProducers"),
    64: ("unregister_broker", "UnregisterBroker"),
    65: ("describe_transactions", "DescribeTransactions"),
    66: ("list_transactions", "ListTransactions"),
    68: ("consumer_group_heartbeat", "ConsumerGroupHeartbeat"),
    69: ("consumer_group_describe", "ConsumerGroupDescribe"),
    71: ("get_telemetry_subscriptions", "GetTelemetrySubscriptions"),
    72: ("push_telemetry", "PushTelemetry"),
    74: ("list_config_resources", "ListConfigResources"),
    75: ("describe_topic_partitions", "DescribeTopicPartitions"),
    76: ("share_group_heartbeat", "ShareGroupHeartbeat"),
    77: ("share_group_describe", "ShareGroupDescribe"),
    78: ("share_fetch", "ShareFetch"),
    79: ("share_acknowledge", "ShareAcknowledge"),
    80: ("add_raft_voter", "AddRaftVoter"),
    81: ("remove_raft_voter", "RemoveRaftVoter"),
    88: ("streams_group_heartbeat", "StreamsGroupHeartbeat"),
    89: ("streams_group_describe", "StreamsGroupDescribe"),
    90: ("describe_share_group_offsets", "DescribeShareGroupOffsets"),
    91: ("alter_share_group_offsets", "AlterShareGroupOffsets"),
    92: ("delete_share_group_offsets", "DeleteShareGroupOffsets"),
    94: ("unregister_controller", "UnregisterController"),
}

UNSPOKEN = {
    52: "Vote",
    53: "BeginQuorumEpoch",
    54: "EndQuorumEpoch",
    56: "AlterPartition",
    58: "Envelope",
    59: "FetchSnapshot",
    62: "BrokerRegistration",
    63: "BrokerHeartbeat",
    67: "AllocateProducerIds",
    70: "ControllerRegistration",
    73: "AssignReplicasToDirs",
    82: "UpdateRaftVoter",
    83: "InitializeShareGroupState",
    84: "ReadShareGroupState",
    85: "WriteShareGroupState",
    86: "DeleteShareGroupState",
    87: "ReadShareGroupStateSummary",
    93: "StreamsGroupTopologyDescriptionUpdate",
}
"""Names of APIs that kcli never asks: brokers, controllers and streams applications do. Listings show them."""


_imported: dict[int, type[Request[Any]]] = {}


def request_type(api_key: int) -> type[Request[Any]] | None:
    """The request class of an API key, None for one that is not declared here."""
    known = _imported.get(api_key)
    if known is None and (row := REQUESTS.get(api_key)) is not None:
        known = getattr(importlib.import_module(f"{__name__}.{row[0]}"), f"{row[1]}Request")
        _imported[api_key] = known
    return known


def api_name(api_key: int) -> str:
    """Kafka's name of an API key."""
    row = REQUESTS.get(api_key)
    return row[1] if row else UNSPOKEN.get(api_key, f"API {api_key}")
