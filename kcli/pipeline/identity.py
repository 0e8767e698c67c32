"""The identity of the cluster and topics that offsets belong to. A stream stores it in its checkpoint beside the
offsets, under a name that no topic can have, so that a query never resumes in another cluster or in a recreated topic,
where the same offsets are other records."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from kcli.admin.cluster.cluster import cluster_id
from kcli.client import Client
from kcli.errors import KcliError
from kcli.pipeline.log import Log
from kcli.proto.schema import NO_ID


class NotTheSame(KcliError):
    """A checkpoint was written for another cluster, or for a topic that no longer exists."""


def identity_of(log: Log, topics: Iterable[str], *, asked: bool = False) -> dict[str, Any]:
    """Return `{"cluster": id, "topics": {name: id}}` as of now, with ids in the form of Kafka's tools.

    What the cluster does not report is missing (topic ids exist since Kafka 2.8). `asked`: the metadata was requested
    just now (`Log.partitions`).
    """
    names = sorted(set(topics))

    async def ask(client: Client) -> dict[str, Any]:
        cluster = await cluster_id(client.cluster)
        if not asked:
            await client.cluster.refresh(names)
        ids = {name: client.cluster.topic_id(name) for name in names}
        told = {name: urlsafe_b64encode(one).decode().rstrip("=") for name, one in ids.items() if one != NO_ID}
        return {"cluster": cluster, "topics": told} if cluster else {"topics": told}

    return log.kafka.run(ask)


def check(known: Mapping[str, Any], now: Mapping[str, Any], servers: str, *, lenient: bool = False) -> set[str]:
    """Raise NotTheSame unless `now` matches the checkpoint's `known`, comparing only what both contain. With `lenient`,
    recreated topics are returned instead."""
    before, after = known.get("cluster"), now.get("cluster")
    if before and after and before != after:
        raise NotTheSame(
            f"the checkpoint belongs to cluster {before}, but {servers} is cluster {after}: a query resumes "
            "only on the cluster where it started; connect to that cluster, or start over with another checkpoint"
        )
    again = set()
    for topic, one in known.get("topics", {}).items():
        other = now.get("topics", {}).get(topic)
        if other is not None and other != one:
            again.add(topic)
            if not lenient:
                raise NotTheSame(
                    f"{topic} is not the topic that the checkpoint was written for: it was deleted and recreated "
                    "(topic "
                    f"id {one} "
                    f"then, {other} now), so its offsets now belong to other records; start over with another "
                    "checkpoint, or "
                    "read it from its beginning with failOnDataLoss=false"
                )
    return again
