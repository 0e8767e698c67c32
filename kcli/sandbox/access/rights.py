"""What each API takes, as Kafka's brokers ask their authorizer. Where several answers are possible the answer itself
decides: CreateTopics, Metadata, FindCoordinator, configs, lists."""

from __future__ import annotations

from kcli import codes
from kcli.codes import ErrorCode


def _by_key(keys: dict[str, tuple[int, ...]]) -> dict[int, str]:
    """The operation of each API key."""
    return {key: operation for operation, some in keys.items() for key in some}


TOPIC = _by_key(
    {"write": (0, 24), "read": (1, 8, 28, 61, 78, 79), "describe": (2, 23, 75), "delete": (20, 21), "alter": (37,)}
)
GROUP = _by_key(
    {"read": (8, 11, 12, 13, 14, 28, 68, 76, 78, 79, 91), "describe": (9, 15, 69, 77, 90), "delete": (42, 47, 92)}
)
TRANSACTIONAL_ID = _by_key({"write": (22, 24, 25, 26, 28), "describe": (65,)})
CLUSTER = _by_key(
    {
        "alter": (27, 30, 31, 34, 43, 45, 51, 57, 64, 80, 81),
        "describe": (29, 35, 46, 50, 55),
        "describe-configs": (48, 74),
        "alter-configs": (49,),
    }
)
BY_KIND = {"topic": TOPIC, "group": GROUP, "transactional-id": TRANSACTIONAL_ID, "cluster": CLUSTER}
CONFIGURED = {2: "topic", 4: "cluster", 8: "cluster", 16: "cluster", 32: "group"}
"""What is asked for the configs of a resource type: a broker's are the cluster's."""
REFUSALS: dict[str, ErrorCode] = {
    "topic": codes.TOPIC_AUTHORIZATION_FAILED,
    "group": codes.GROUP_AUTHORIZATION_FAILED,
    "transactional-id": codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    "cluster": codes.CLUSTER_AUTHORIZATION_FAILED,
}
