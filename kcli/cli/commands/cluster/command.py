"""`kcli brokers` and `kcli cluster`: who is there, who decides, what is switched on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from kcli.admin.cluster.brokers import BrokerRow, look_at_brokers
from kcli.admin.cluster.cluster import describe_cluster
from kcli.admin.cluster.quorum import describe_quorum
from kcli.admin.cluster.quorum import features as all_features
from kcli.admin.groups.groups import group_names
from kcli.admin.topics.topics import describe_topics
from kcli.asking.coordinators import Coordinators
from kcli.cli.output.render import Document
from kcli.cli.output.timestamps import known
from kcli.cli.runtime.answer import answer
from kcli.errors import KcliError, UsageError
from kcli.model import Cluster
from kcli.proto.messages import REQUESTS, api_name, request_type

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values


def brokers(values: Values) -> int:
    """`kcli brokers list`."""

    async def work(cluster: Cluster, document: Document) -> None:
        rows = await look_at_brokers(cluster)
        document.rows["brokers"] = [_broker(row) for row in rows]
        for row in rows:
            if row.problem and not row.fenced:
                document.fail(KcliError(row.problem), f"broker {row.node.id}")

    return answer(values, "brokers.list", work)


def _broker(row: BrokerRow) -> Row:
    return {
        "broker": row.node.id,
        "host": row.node.host,
        "port": row.node.port,
        "rack": row.node.rack,
        "state": "fenced" if row.fenced else "controller" if row.controller else "up" if not row.problem else "silent",
        "took_ms": None if row.took is None else round(row.took * 1000, 1),
        "release": row.release,
        "leads": row.leads,
        "replicas": row.replicas,
        "behind": row.behind,
        "size": row.size,
        "free": row.usable,
        "error": None if row.fenced else row.problem or None,
    }


def versions(values: Values) -> int:
    """`kcli brokers versions [ID...]`."""
    wanted = broker_ids(values["words"])

    async def work(cluster: Cluster, document: Document) -> None:
        rows = await look_at_brokers(cluster, figures=False)
        known = {row.node.id for row in rows}
        for number in sorted(wanted - known):
            there = ", ".join(map(str, sorted(known)))
            document.fail(KcliError(f"there is no broker {number}; there are {there}"), str(number))
        made = document.rows["apis"] = []
        for row in rows:
            if wanted and row.node.id not in wanted:
                continue
            if row.problem and (wanted or not row.fenced):
                document.fail(KcliError(row.problem), f"broker {row.node.id}")
            made += [_api(row.node.id, key, low, high) for key, (low, high) in sorted(row.apis.items())]

    return answer(values, "brokers.versions", work)


def _api(broker: int, key: int, low: int, high: int) -> Row:
    kind = request_type(key) if key in REQUESTS else None
    ours = (kind.versions.first, kind.versions.last) if kind is not None else None
    used = min(high, ours[1]) if ours is not None else None
    return {
        "broker": broker,
        "key": key,
        "api": api_name(key),
        "lowest": low,
        "highest": high,
        "kcli": used if used is not None and ours is not None and used >= max(low, ours[0]) else None,
    }


def overview(values: Values) -> int:
    """`kcli cluster`."""

    async def work(cluster: Cluster, document: Document) -> None:
        described, topics, rows = await asyncio.gather(
            describe_cluster(cluster), describe_topics(cluster, None), look_at_brokers(cluster, figures=False)
        )
        groups = await group_names(Coordinators(cluster).cluster)
        document.rows["cluster"] = [
            {
                "cluster_id": described.cluster_id,
                "controller": described.controller if described.controller >= 0 else None,
                "brokers": len(described.brokers),
                "release": next((row.release for row in rows if row.apis), None),
                "topics": len(topics),
                "groups": len(groups),
            }
        ]

    return answer(values, "cluster.list", work)


def quorum(values: Values) -> int:
    """`kcli cluster quorum`."""

    async def work(cluster: Cluster, document: Document) -> None:
        found = await describe_quorum(cluster)
        document.rows["quorum"] = [
            {"leader": found.leader, "epoch": found.epoch, "high_watermark": found.high_watermark}
        ]
        document.rows["nodes"] = [
            {
                "node": one.node,
                "role": "leader" if one.leader else "voter" if one.voter else "observer",
                "end": one.end,
                "lag": one.lag,
                "fetched": known(one.fetched),
                "caught_up": known(one.caught_up),
            }
            for one in found.nodes
        ]

    return answer(values, "cluster.quorum", work)


def features(values: Values) -> int:
    """`kcli cluster features`."""

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["features"] = [
            {"feature": one.name, "level": one.level, "lowest": one.lowest, "highest": one.highest}
            for one in await all_features(cluster)
        ]

    return answer(values, "cluster.features", work)


def broker_ids(words: list[str]) -> set[int]:
    """Broker ids that somebody named. Raises UsageError."""
    for word in words:
        if not word.isdecimal():
            raise UsageError(f"{word}: a broker is named by its id, such as 1")
    return set(map(int, words))
