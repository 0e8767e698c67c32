"""What each API takes, as Kafka's brokers ask their authorizer. Where several answers are possible the answer itself
decides: CreateTopics, Metadata, FindCoordinator, configs, lists."""

from __future__ import annotations

from kcli import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode

TOPIC = {
    0: "write", 1: "read", 2: "describe", 8: "read", 20: "delete", 21: "delete", 23: "describe", 24: "write",
    28: "read", 37: "alter", 61: "read", 75: "describe", 78: "read", 79: "read",
}  # fmt: skip
GROUP = {
    8: "read", 9: "describe", 11: "read", 12: "read", 13: "read", 14: "read", 15: "describe", 28: "read", 42: "delete",
    47: "delete", 68: "read", 69: "describe", 76: "read", 77: "describe", 78: "read", 79: "read", 90: "describe",
    91: "read", 92: "delete",
}  # fmt: skip
TRANSACTIONAL_ID = {22: "write", 24: "write", 25: "write", 26: "write", 28: "write", 65: "describe"}
CLUSTER = {
    27: "alter", 29: "describe", 30: "alter", 31: "alter", 34: "alter", 35: "describe", 43: "alter", 45: "alter",
    46: "describe", 48: "describe-configs", 49: "alter-configs", 50: "describe", 51: "alter", 55: "describe",
    57: "alter", 64: "alter", 74: "describe-configs", 80: "alter", 81: "alter",
}  # fmt: skip
BY_KIND = {"topic": TOPIC, "group": GROUP, "transactional-id": TRANSACTIONAL_ID, "cluster": CLUSTER}
CONFIGURED = {2: "topic", 4: "cluster", 8: "cluster", 16: "cluster", 32: "group"}
"""What is asked for the configs of a resource type: a broker's are the cluster's."""
REFUSALS: dict[str, ErrorCode] = {
    "topic": codes.TOPIC_AUTHORIZATION_FAILED,
    "group": codes.GROUP_AUTHORIZATION_FAILED,
    "transactional-id": codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    "cluster": codes.CLUSTER_AUTHORIZATION_FAILED,
}
