"""Since which version of an API a throttled answer asks the client to stay quiet (KIP-219, B25).

Before it the broker had waited already, and waiting again would be twice. An API that is not listed asks for it in
every version.
"""

from __future__ import annotations

SINCE = {
    0: 6,  # Produce
    1: 8,  # Fetch
    2: 3,  # ListOffsets
    3: 6,  # Metadata
    8: 4,  # OffsetCommit
    9: 4,  # OffsetFetch
    10: 2,  # FindCoordinator
    11: 3,  # JoinGroup
    12: 2,  # Heartbeat
    13: 2,  # LeaveGroup
    14: 2,  # SyncGroup
    15: 2,  # DescribeGroups
    16: 2,  # ListGroups
    18: 2,  # ApiVersions
    19: 3,  # CreateTopics
    20: 2,  # DeleteTopics
    21: 1,  # DeleteRecords
    22: 1,  # InitProducerId
    24: 1,  # AddPartitionsToTxn
    25: 1,  # AddOffsetsToTxn
    26: 1,  # EndTxn
    28: 1,  # TxnOffsetCommit
    32: 2,  # DescribeConfigs
    33: 1,  # AlterConfigs
    37: 1,  # CreatePartitions
    42: 1,  # DeleteGroups
}


def pause(api_key: int, version: int, throttle_time_ms: int) -> float:
    """How many seconds to stay quiet after such an answer."""
    return throttle_time_ms / 1000 if throttle_time_ms > 0 and version >= SINCE.get(api_key, 0) else 0.0
