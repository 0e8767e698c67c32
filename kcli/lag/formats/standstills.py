"""The offsets of partitions that stand still, in a file beside the history of their cluster, and the commit intervals
of those that commit rarely.

A dashboard or `--watch` that is started again knows since when a partition is STUCK or STALLED if it finds it at the
same offset, and does not call one STUCK that commits every ten minutes.

    state_folder/history/CLUSTER.ndjson.still    at most 2 MiB, replaced as a whole, with mode 600
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kcli.model import TopicPartition
from kcli.paths import private

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.lag.history import Standstills
    from kcli.lag.partition_lag import Stood

    Topics = dict[str, list[tuple[float, bool, tuple[float, ...], dict[str, int]]]]

VERSION = "kcli.lag.still/3"
MOST = 2 << 20
"""Bytes of a file; where there would be more, none is kept."""


def write(path: str, stood: Standstills) -> None:
    """Replace the file, or remove it where it would be too large. Raises OSError."""
    import json

    groups = {group: _by_time(some) for group, some in stood.items()}
    data = json.dumps({"kcli": VERSION, "groups": groups}, ensure_ascii=True, separators=(",", ":")).encode()
    if len(data) > MOST:
        if os.path.exists(path):
            os.unlink(path)
        return
    with open(f"{path}.new", "wb", opener=private) as file:
        file.write(data)
    os.replace(f"{path}.new", path)


def read(path: str) -> Standstills | None:
    """What stood still; None where that is not known: without the file, or with one that is damaged."""
    import json

    try:
        with open(path, "rb") as file:
            whole = json.loads(file.read(MOST + 1))
        if whole["kcli"] != VERSION:
            return None
        return {str(group): dict(_places(topics)) for group, topics in whole["groups"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _by_time(some: dict[TopicPartition, Stood]) -> Topics:
    """Partitions with their offsets, by topic and time: those of a group often stop at one moment."""
    topics: dict[str, dict[tuple[float, bool, tuple[float, ...]], dict[str, int]]] = {}
    for at, (done, since, member_moved, waits) in some.items():
        places = topics.setdefault(at.topic, {}).setdefault((round(since, 3), member_moved, waits), {})
        places[str(at.partition)] = done
    return {topic: [(*key, places) for key, places in times.items()] for topic, times in topics.items()}


def _places(topics: Topics) -> Iterator[tuple[TopicPartition, Stood]]:
    for topic, times in topics.items():
        for since, member_moved, waits, places in times:
            stood = float(since), bool(member_moved), tuple(map(float, waits))
            for partition, done in places.items():
                yield TopicPartition(str(topic), int(partition)), (int(done), *stood)
