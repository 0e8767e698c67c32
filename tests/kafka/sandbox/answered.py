"""Answers of two brokers, field by field: what is masked, and where they differ."""

from __future__ import annotations

import json
import re
from typing import Any

TIME = 1_500_000_000_000  # ms: later ones are of a clock, smaller ones were asked for
ASKED = 500_000  # producer ids from here on were asked for, no broker gave them
ANYTHING = {
    "throttleTimeMs",
    "host",
    "logDir",
    "port",
    "clusterId",
    "errorMessage",
    "acknowledgeErrorMessage",
    "batchIndexErrorMessage",
}
"""Fields whose values are each broker's own: host names, and the wording of errors. So is that of documentation."""
IDS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![\w-])[\w-]{22}(?![\w-])")
KEYS = (
    "apiKey", "resourceType", "resourceName", "name", "topic", "topicName", "topicId", "groupId", "key", "memberId",
    "transactionalId", "partition", "partitionIndex", "partitionId", "index", "nodeId", "brokerId", "feature", "user",
)  # fmt: skip
"""Fields by which rows of two answers belong together."""


OWN = {
    "advertised.listeners", "controller.listener.names", "controller.quorum.voters", "inter.broker.listener.name",
    "listener.security.protocol.map", "listeners", "log.dirs",
}  # fmt: skip
"""Configurations whose values are each broker's own: addresses and directories."""


def masked(thing: Any, name: str = "") -> Any:
    """The answer without what each broker has of its own: times, ids, host names, the wording of errors."""
    if isinstance(thing, dict):
        hidden = ("value", "configSource", "synonyms") if thing.get("name") in OWN else ()
        return {key: "…" if key in hidden else masked(value, key) for key, value in thing.items()}
    if isinstance(thing, list):
        return [masked(item, name) for item in thing]
    if name in ANYTHING or (name == "documentation" and thing):
        return "…"
    if name in ("sessionId", "subscriptionId") and thing:
        return f"<{name}>"
    if name == "finalizedFeaturesEpoch" and thing >= 0:
        return "<epoch>"
    if name in ("producerId", "currentProducerId") and isinstance(thing, int) and 0 <= thing < ASKED:
        return "<producer id>"
    if isinstance(thing, int) and not isinstance(thing, bool) and thing > TIME and "ime" in name:
        return "<time>"
    return IDS.sub("<id>", thing) if isinstance(thing, str) and name != "records" else thing


def differences(kafka: Any, sandbox: Any, path: str = "") -> dict[str, tuple[Any, Any]]:
    """Where two masked answers differ: both values by path, which leaves out the places in lists, but has the
    names of configurations. `path[]` is a list with other rows. Order counts only in lists of plain values."""
    if not path and kafka.keys() ^ sandbox.keys() == kafka.keys() | sandbox.keys():  # no answer at all from one of them
        return {"connection": (kafka, sandbox)}
    if isinstance(kafka, dict) and isinstance(sandbox, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for name in kafka.keys() | sandbox.keys():
            at = f"{path}.{name}" if path else name
            found |= differences(kafka.get(name), sandbox.get(name), at)
        return found
    if _rows(kafka) and _rows(sandbox):
        left, right = _keyed(kafka), _keyed(sandbox)
        found = {}
        for key in sorted(left.keys() & right.keys()):
            here = f"{path}.{left[key]['name']}" if path.endswith("configs") and "name" in left[key] else path
            for at, pair in differences(left[key], right[key], here).items():
                found.setdefault(at, pair)
        if left.keys() != right.keys():
            found[f"{path}[]"] = (sorted(left.keys() - right.keys()), sorted(right.keys() - left.keys()))
        return found
    return {} if kafka == sandbox else {path: (kafka, sandbox)}


def _rows(thing: Any) -> bool:
    return isinstance(thing, list) and all(isinstance(item, dict) for item in thing)


def _keyed(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    keyed: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)):
        named = {name: row[name] for name in KEYS if not isinstance(row.get(name, []), list | dict)}
        key = base = " ".join(f"{name}={value}" for name, value in named.items())
        number = 1
        while key in keyed:
            number += 1
            key = f"{base} #{number}"
        keyed[key] = row
    return keyed


def kept(answer: Any, path: str) -> Any:
    """The value at a path such as `topics.0.partitions.0.offset`."""
    for part in path.split("."):
        answer = answer[int(part)] if part.isdecimal() else answer[part]
    return answer


def fits(path: str, pattern: str) -> bool:
    """Whether a path is meant. Only * is more than itself: lists end with []."""
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), path) is not None
