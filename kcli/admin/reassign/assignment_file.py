"""The target of each partition in the format of Kafka's own tool: `{"version": 1, "partitions": [{"topic", "partition",
"replicas", "log_dirs"}]}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kcli.admin.reassign.reassignments import Assignment
from kcli.admin.storage import Replica
from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.system import files

ANY = "any"


def document(assignment: Assignment, log_dirs: Mapping[Replica, str] | None = None) -> dict[str, Any]:
    """Return the document that kafka-reassign-partitions reads as --reassignment-json-file."""
    dirs = log_dirs or {}
    return {
        "version": 1,
        "partitions": [
            {
                "topic": at.topic,
                "partition": at.partition,
                "replicas": list(brokers),
                "log_dirs": [dirs.get(Replica(at.topic, at.partition, node), ANY) for node in brokers],
            }
            for at, brokers in sorted(assignment.items())
        ],
    }


def read(path: str) -> tuple[Assignment, dict[Replica, str]]:
    """Read the replicas of each partition, and the directories if given. Raises UsageError with the error in
    the file."""
    from json import loads

    try:
        whole = loads(files.read(path, files.TEXT))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON ({error})") from None
    return read_document(whole, path)


def read_document(whole: Any, path: str = "undo file") -> tuple[Assignment, dict[Replica, str]]:
    """Like `read`, for a parsed document of a file called `path`."""
    try:
        if whole.get("version", 1) != 1:
            raise UsageError(f"{path}: version {whole['version']} of this file is unknown; kcli reads version 1")
        rows = whole["partitions"]
        return _assignment(path, rows)
    except (KeyError, TypeError, AttributeError):
        raise UsageError(
            f'{path}: expected {{"version": 1, "partitions": [{{"topic": …, "partition": …, "replicas": […]}}]}}'
        ) from None


def _assignment(path: str, rows: list[dict[str, Any]]) -> tuple[Assignment, dict[Replica, str]]:
    assignment: Assignment = {}
    dirs: dict[Replica, str] = {}
    for row in rows:
        at = TopicPartition(row["topic"], row["partition"])
        brokers = row["replicas"]
        where = f"{path}: {at.topic} [{at.partition}]"
        whole = isinstance(at.topic, str) and _id(at.partition) and isinstance(brokers, list)
        if not whole or not all(_id(node) for node in brokers):
            raise UsageError(f"{where}: a topic must be a string, a partition and its replicas must be numbers")
        if not brokers or len(set(brokers)) != len(brokers):
            raise UsageError(f"{where}: replicas {brokers} are empty, or name a broker twice")
        if at in assignment:
            raise UsageError(f"{where}: the partition is listed twice")
        places = row.get("log_dirs") or [ANY] * len(brokers)
        if len(places) != len(brokers):
            raise UsageError(f"{where}: list one log_dir per replica, or none")
        assignment[at] = brokers
        for node, place in zip(brokers, places, strict=True):
            if place != ANY:
                dirs[Replica(at.topic, at.partition, node)] = str(place)
    if not assignment:
        raise UsageError(f"{path}: the file contains no partition")
    return assignment, dirs


def _id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
