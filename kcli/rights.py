"""The permission that each API requires, as Kafka's brokers check it. If several are possible, the response decides
(`BY_ANSWER`): CreateTopics, Metadata, FindCoordinator, configs, lists."""

from __future__ import annotations

from kcli import codes
from kcli.codes import ErrorCode


def _by_key(keys: dict[str, tuple[int, ...]]) -> dict[int, str]:
    """Return the operation of each API key."""
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
        "alter": (27, 30, 31, 34, 43, 45, 51, 57, 64, 80, 81, 94),
        "describe": (29, 35, 46, 50, 55),
        "describe-configs": (48, 74),
        "alter-configs": (49,),
    }
)
BY_KIND = {"topic": TOPIC, "group": GROUP, "transactional-id": TRANSACTIONAL_ID, "cluster": CLUSTER}
BY_ANSWER = {
    "topic": _by_key(
        {"create": (19,), "describe": (3, 9, 68, 69, 76, 77, 88, 89, 90), "read": (25, 47), "describe-configs": (32,)}
        | {"alter-configs": (33, 44)}
    ),
    "group": _by_key({"describe": (10,), "read": (25,), "describe-configs": (32,), "alter-configs": (33, 44)}),
    "transactional-id": _by_key({"describe": (10,), "write": (0,)}),
    "cluster": _by_key(
        {"create": (3, 19), "describe": (16, 60), "describe-configs": (32,), "alter-configs": (33, 44)}
        | {"idempotent-write": (0, 22)}
    ),
}
"""Additional permissions that an API may require, shown by its responses."""
CONFIGURED = {2: "topic", 4: "cluster", 8: "cluster", 16: "cluster", 32: "group"}
"""Resource kind that is checked for the configs of a resource type; for a broker it is the cluster."""
REFUSALS: dict[str, ErrorCode] = {
    "topic": codes.TOPIC_AUTHORIZATION_FAILED,
    "group": codes.GROUP_AUTHORIZATION_FAILED,
    "transactional-id": codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    "cluster": codes.CLUSTER_AUTHORIZATION_FAILED,
}


def missing(code: ErrorCode, api: int, names: dict[str, str]) -> tuple[str, str, str] | None:
    """Return operation, kind and name of the resource for which a refused request lacks permission; None if unknown.

    `names` are the resources of the request by kind. Every producer that may write to a topic may be idempotent
    (KIP-679, since Kafka 2.8), so a refused request for a producer id names the topic.
    """
    kind = next((kind for kind, refusal in REFUSALS.items() if refusal is code), "")
    if kind == "cluster":
        operation = CLUSTER.get(api) or BY_ANSWER[kind].get(api)
        if operation == "idempotent-write" and "topic" in names:
            return "write", "topic", names["topic"]
        return (operation, kind, "") if operation else None
    name = names.get(kind.replace("-", "_"))
    operation = BY_KIND[kind].get(api) or BY_ANSWER[kind].get(api) if kind and name else None
    return (operation, kind, name) if operation and name else None
