"""The sandbox's responses, one file per API. The table has all advertised APIs; others are not served."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import Any

from kcli.proto.messages.api_versions import ApiVersion
from kcli.proto.schema import Response
from kcli.sandbox.settings import SandboxSettings
from kcli.sandbox.wire.request_context import RequestContext

Answer = Callable[[RequestContext, Any], Awaitable[Response | None]]

# API key: (file, lowest, highest version advertised). Produce says 0 and refuses 0-2, as Kafka 4 does: librdkafka
# takes a broker without Produce 0 for one that cannot decompress.
ANSWERS: dict[int, tuple[str, int, int]] = {
    0: ("produce", 0, 13),
    1: ("fetch", 4, 18),
    2: ("list_offsets", 1, 11),
    3: ("metadata", 0, 13),
    8: ("offset_commit", 2, 10),
    9: ("offset_fetch", 1, 10),
    10: ("find_coordinator", 0, 6),
    11: ("join_group", 0, 9),
    12: ("heartbeat", 0, 4),
    13: ("leave_group", 0, 5),
    14: ("sync_group", 0, 5),
    15: ("describe_groups", 0, 6),
    16: ("list_groups", 0, 5),
    17: ("sasl_handshake", 0, 1),
    18: ("api_versions", 0, 5),
    19: ("create_topics", 2, 7),
    20: ("delete_topics", 1, 6),
    21: ("delete_records", 0, 2),
    22: ("init_producer_id", 0, 5),
    23: ("offset_for_leader_epoch", 2, 4),
    24: ("add_partitions_to_txn", 0, 5),
    25: ("add_offsets_to_txn", 0, 4),
    26: ("end_txn", 0, 5),
    27: ("write_txn_markers", 1, 2),
    28: ("txn_offset_commit", 0, 6),
    29: ("describe_acls", 1, 3),
    30: ("create_acls", 1, 3),
    31: ("delete_acls", 1, 3),
    32: ("describe_configs", 1, 4),
    33: ("alter_configs", 0, 2),
    34: ("alter_replica_log_dirs", 1, 2),
    35: ("describe_log_dirs", 1, 5),
    36: ("sasl_authenticate", 0, 2),
    37: ("create_partitions", 0, 3),
    38: ("create_delegation_token", 1, 3),
    39: ("renew_delegation_token", 1, 2),
    40: ("expire_delegation_token", 1, 2),
    41: ("describe_delegation_token", 1, 3),
    42: ("delete_groups", 0, 3),
    43: ("elect_leaders", 0, 2),
    44: ("incremental_alter_configs", 0, 1),
    45: ("alter_partition_reassignments", 0, 1),
    46: ("list_partition_reassignments", 0, 0),
    47: ("offset_delete", 0, 0),
    48: ("describe_client_quotas", 0, 1),
    49: ("alter_client_quotas", 0, 1),
    50: ("describe_user_scram_credentials", 0, 0),
    51: ("alter_user_scram_credentials", 0, 0),
    55: ("describe_quorum", 0, 2),
    57: ("update_features", 0, 2),
    60: ("describe_cluster", 0, 2),
    61: ("describe_producers", 0, 0),
    64: ("unregister_broker", 0, 0),
    65: ("describe_transactions", 0, 0),
    66: ("list_transactions", 0, 2),
    68: ("consumer_group_heartbeat", 0, 1),
    69: ("consumer_group_describe", 0, 1),
    74: ("list_config_resources", 0, 1),
    75: ("describe_topic_partitions", 0, 0),
    76: ("share_group_heartbeat", 1, 1),
    77: ("share_group_describe", 1, 1),
    78: ("share_fetch", 1, 2),
    79: ("share_acknowledge", 1, 2),
    80: ("add_raft_voter", 0, 1),
    81: ("remove_raft_voter", 0, 0),
    90: ("describe_share_group_offsets", 0, 1),
    91: ("alter_share_group_offsets", 0, 0),
    92: ("delete_share_group_offsets", 0, 0),
    94: ("unregister_controller", 0, 0),
}
TELEMETRY = {71: ("get_telemetry_subscriptions", 0, 0), 72: ("push_telemetry", 0, 0)}
"""KIP-714: always answered, but advertised only with `SandboxSettings.telemetry`, like by a Kafka with a metrics
receiver."""
OLDER = {"4.3": {18: ("api_versions", 0, 4), 28: ("txn_offset_commit", 0, 5), 42: ("delete_groups", 0, 2)}}
"""What other versions of Kafka answer differently."""
MISSING = {"4.3": {94}}
"""What other versions of Kafka do not answer."""


def versions_answered(settings: SandboxSettings) -> list[ApiVersion]:
    """Return the table as rows of ApiVersions."""
    from kcli.proto.messages.api_versions import ApiVersion

    return [
        ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (_, low, high) in served(settings).items()
        if settings.telemetry or key not in TELEMETRY
    ]


def served(settings: SandboxSettings) -> dict[int, tuple[str, int, int]]:
    """Return the APIs of a sandbox."""
    every = ANSWERS | OLDER.get(settings.kafka_version, {}) | TELEMETRY
    missing = MISSING.get(settings.kafka_version, set())
    return {key: row for key, row in every.items() if key not in missing}


_loaded: dict[int, Answer] = {}


def answer_of(api_key: int) -> Answer:
    """Return the function that answers an API, from its own file, imported on first use."""
    answer = _loaded.get(api_key)
    if answer is None:
        module = importlib.import_module(f"kcli.sandbox.answers.{(ANSWERS | TELEMETRY)[api_key][0]}")
        answer = _loaded[api_key] = module.answer
    return answer
