"""Brokers with figures: what each leads and stores, its response time, and its apparent Kafka version.

Sends a Metadata, a DescribeCluster, a DescribeLogDirs and an ApiVersions request per broker, whatever the number of
topics.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from kcli.admin.cluster.cluster import describe_cluster
from kcli.admin.storage import log_dirs
from kcli.admin.topics.topics import Topic, describe_topics
from kcli.asking.ask import ask_anyone
from kcli.errors import KcliError, TooOld, UnsupportedVersion
from kcli.model import Cluster, Node
from kcli.proto.messages.api_versions import versions_request
from kcli.values import Value, field

ANSWERS_WITHIN = 5.0  # seconds
METADATA_VERSION = "metadata.version"
METADATA_VERSIONS = (
    (34, None),
    (31, "4.4"),
    (30, "4.3"),
    (28, "4.2"),
    (26, "4.1"),
    (22, "4.0"),
    (21, "3.9"),
    (20, "3.8"),
    (15, "3.7"),
    (12, "3.6"),
    (9, "3.5"),
    (8, "3.4"),
    (4, "3.3"),
)
"""(first level, release) of the feature metadata.version, as Kafka's MetadataVersion lists them."""

NEWEST = "4.4"


def level_name(feature: str, level: int | None) -> str | None:
    """Return Kafka's name of a level, such as 4.4-IV2. Only levels of metadata.version have names; None for one newer
    than kcli."""
    if feature != METADATA_VERSION or not level:
        return None
    for first, release in METADATA_VERSIONS:
        if level >= first:
            return release and f"{release}-IV{level - first}"
    return None


def level_of(name: str) -> int | None:
    """Return the level of metadata.version with this name: 4.4-IV2, or 4.4 for the highest of that release. None if
    unknown."""
    release, _, number = name.upper().partition("-IV")
    beyond = 0
    for first, known in METADATA_VERSIONS:
        if known == release:
            wanted = beyond - 1 if release == name else first + int(number) if number.isdecimal() else -1
            return wanted if first <= wanted < beyond else None
        beyond = first
    return None


APIS = (
    (18, 5, "4.4"),
    (1, 18, "4.1"),
    (3, 13, "4.0"),
    (1, 17, "3.9"),
    (1, 16, "3.7"),
    (1, 15, "3.5"),
    (1, 13, "3.1"),
    (1, 12, "2.7"),
    (1, 11, "2.3"),
    (1, 10, "2.1"),
    (1, 8, "2.0"),
    (1, 7, "1.1"),
    (1, 6, "1.0"),
    (1, 5, "0.11"),
    (1, 3, "0.10.1"),
    (18, 0, "0.10.0"),
)
"""(API, version, first Kafka release with it)."""


class BrokerRow(Value):
    """A broker. `took` is its response time in seconds, None without a response; then `problem` is the error. `size` is
    the bytes of its replicas; `usable` of `total` are the bytes of its volumes, None if unknown. `apis` maps API keys
    to (lowest, highest version); `metadata_version` is the highest supported level of that feature."""

    node: Node = None  # type: ignore[assignment]  # always given
    controller: bool = False
    fenced: bool = False
    leads: int = 0
    replicas: int = 0
    behind: int = 0
    size: int | None = None
    usable: int | None = None
    total: int | None = None
    took: float | None = None
    problem: str = ""
    apis: dict[int, tuple[int, int]] = field(factory=dict)
    metadata_version: int | None = None

    @property
    def release(self) -> str | None:
        """The Kafka release of the broker, as far as its versions show; None without a response."""
        return release_of(self.apis, self.metadata_version)


async def list_brokers(cluster: Cluster, *, figures: bool = True) -> list[BrokerRow]:
    """Return all brokers by id, including fenced ones if the cluster lists them (KIP-1073). Without `figures`, topics
    and disks are not requested."""
    described, fenced = await asyncio.gather(describe_cluster(cluster), fenced_brokers(cluster))
    rows = [BrokerRow(node=node, controller=node.id == described.controller) for node in described.brokers]
    rows += [BrokerRow(node=node, fenced=True, problem="fenced: it serves no clients now") for node in fenced]
    rows.sort(key=lambda row: row.node.id)
    await asyncio.gather(*(_ping(cluster, row) for row in rows if not row.fenced))
    if figures:
        await _count(cluster, rows)
    return rows


async def _ping(cluster: Cluster, row: BrokerRow) -> None:
    """Measure the response time on an open connection, or note the error."""
    try:
        async with asyncio.timeout(ANSWERS_WITHIN):
            broker = await cluster.node(row.node.id)
            row.apis = await broker.versions()
            begun = time.perf_counter()
            answer = await broker.ask(versions_request())
            row.took = time.perf_counter() - begun
            levels = {feature.name: feature.max_version for feature in answer.supported_features}
            row.metadata_version = levels.get(METADATA_VERSION)
    except TimeoutError:
        row.problem = f"no response within {ANSWERS_WITHIN:.0f} s"
    except KcliError as problem:
        row.problem = str(problem)


async def _count(cluster: Cluster, rows: list[BrokerRow]) -> None:
    topics, (places, _) = await asyncio.gather(describe_topics(cluster, None), log_dirs(cluster))
    partitions = [p for topic in topics.values() if isinstance(topic, Topic) for p in topic.partitions]
    for row in rows:
        number = row.node.id
        row.leads = sum(p.leader == number for p in partitions)
        row.replicas = sum(number in p.replicas for p in partitions)
        row.behind = sum(number in p.replicas and number not in p.isr for p in partitions)
        here = [place for place in places if place.broker == number]
        volumes = [place for place in here if place.total >= 0]
        row.size = sum(place.size for place in here) if here else None
        row.usable = sum(place.usable for place in volumes) if volumes else None
        row.total = sum(place.total for place in volumes) if volumes else None


async def fenced_brokers(cluster: Cluster) -> list[Node]:
    """Return registered brokers that serve no requests because they are starting, shutting down, or dead. Brokers
    before 4.0 do not list them."""
    from kcli.proto.messages.describe_cluster import DescribeClusterRequest

    try:
        answer = await ask_anyone(cluster, DescribeClusterRequest(include_fenced_brokers=True))
    except (UnsupportedVersion, TooOld):
        return []
    return [
        Node(broker.broker_id, broker.host, broker.port, broker.rack) for broker in answer.brokers if broker.is_fenced
    ]


def release_of(apis: Mapping[int, tuple[int, int]], metadata_version: int | None) -> str | None:
    """Return "4.3" if the highest supported metadata.version shows the release, else "≥ 4.1" by the API versions; None
    before Kafka 0.10. Brokers with ZooKeeper, and before 3.3, have no metadata.version."""
    for level, release in METADATA_VERSIONS:
        if metadata_version is not None and metadata_version >= level:
            return release or f"≥ {NEWEST}"
    least = oldest(apis)
    return least and f"≥ {least}"


def oldest(apis: Mapping[int, tuple[int, int]]) -> str | None:
    """Return the oldest Kafka release that supports these versions, such as "4.1"; None if before 0.10."""
    for key, version, release in APIS:
        if key in apis and apis[key][1] >= version:
            return release
    return None
