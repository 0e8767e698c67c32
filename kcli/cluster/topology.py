"""What is known of the cluster: nodes, topics, leaders. Pure: a metadata answer goes in, facts come out.

A bad answer deletes nothing: a topic missing from one answer, or a partition in trouble, keeps what was known (C6).
A leader's epoch never goes back, unless the topic is another one (C5).
"""

from __future__ import annotations

from kcli import codes
from kcli.model import Node
from kcli.proto.schema import NO_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.codes import ErrorCode
    from kcli.model import TopicPartition
    from kcli.proto.messages.metadata import MetadataResponse, MetadataResponsePartition, MetadataResponseTopic

REWINDS = 5  # so many older epochs in a row are believed after all (KAFKA-13488)


class Partition:
    """Who leads a partition, as far as is known; -1 is nobody or unknown."""

    __slots__ = ("epoch", "error", "isr", "leader", "replicas", "rewinds")

    def __init__(self) -> None:
        self.leader = -1
        self.epoch = -1
        self.rewinds = 0
        self.error: ErrorCode = codes.NONE
        self.replicas: list[int] = []
        self.isr: list[int] = []


class Topic:
    """What is known of one topic. `error` is the last answer's, if it had one."""

    __slots__ = ("error", "id", "internal", "name", "partitions")

    def __init__(self, name: str) -> None:
        self.name = name
        self.id = NO_ID
        self.internal = False
        self.error: ErrorCode = codes.NONE
        self.partitions: dict[int, Partition] = {}


class Topology:
    """All of it."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.controller_id = -1
        self.nodes: dict[int, Node] = {}
        self.topics: dict[str, Topic] = {}
        self._names: dict[bytes, str] = {}

    def update(self, answer: MetadataResponse, *, reliable_epochs: bool) -> None:
        """Take in a metadata answer. Before version 9 a broker's epochs are not reliable and count as unknown."""
        if answer.brokers:
            self.nodes = {b.node_id: Node(b.node_id, b.host, b.port, b.rack) for b in answer.brokers}
        self.cluster_id = answer.cluster_id or self.cluster_id
        self.controller_id = answer.controller_id
        for topic in answer.topics:
            if topic.name is not None:
                self._update_topic(topic, topic.name, reliable_epochs)

    def _update_topic(self, answer: MetadataResponseTopic, name: str, reliable_epochs: bool) -> None:
        topic = self.topics.get(name)
        if topic is None:
            topic = self.topics[name] = Topic(name)
        topic.error = codes.of(answer.error_code)
        if topic.error and not answer.partitions:
            return
        topic.internal = answer.is_internal
        recreated = NO_ID not in (topic.id, answer.topic_id) and topic.id != answer.topic_id
        if recreated:
            topic.partitions.clear()
        if answer.topic_id != NO_ID:
            self._names.pop(topic.id, None)
            topic.id = answer.topic_id
            self._names[topic.id] = name
        for one in answer.partitions:
            known = topic.partitions.setdefault(one.partition_index, Partition())
            self._update_partition(known, one, one.leader_epoch if reliable_epochs else -1)

    @staticmethod
    def _update_partition(known: Partition, answer: MetadataResponsePartition, epoch: int) -> None:
        known.error = codes.of(answer.error_code)
        known.replicas, known.isr = answer.replica_nodes, answer.isr_nodes
        if 0 <= epoch < known.epoch and known.rewinds < REWINDS:
            known.rewinds += 1
            return
        known.rewinds = 0
        known.leader, known.epoch = answer.leader_id, epoch

    def partition(self, at: TopicPartition) -> Partition | None:
        topic = self.topics.get(at.topic)
        return topic.partitions.get(at.partition) if topic is not None else None

    def name_of(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def hint(self, at: TopicPartition, leader_id: int, epoch: int, endpoint: Node | None) -> bool:
        """A newer leader from a Produce or Fetch answer (KIP-951); True when it was taken."""
        known = self.partition(at)
        if known is None or leader_id < 0 or epoch <= known.epoch:
            return False
        if endpoint is not None:
            self.nodes[endpoint.id] = endpoint
        if leader_id not in self.nodes:
            return False
        known.leader, known.epoch, known.rewinds = leader_id, epoch, 0
        return True
