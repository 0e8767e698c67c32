"""The known cluster: nodes, topics, leaders, updated from metadata responses. No I/O.

A bad response deletes nothing: a topic missing in one response, and a partition with an error, keep their last state. A
leader epoch never decreases, unless the topic was recreated.
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

REWINDS = 5  # this many consecutive older epochs are believed after all (KAFKA-13488)


class Partition:
    """The known leader of a partition; -1 is none or unknown."""

    __slots__ = ("epoch", "error", "isr", "leader", "replicas", "rewinds")

    def __init__(self) -> None:
        self.leader = -1
        self.epoch = -1
        self.rewinds = 0
        self.error: ErrorCode = codes.NONE
        self.replicas: list[int] = []
        self.isr: list[int] = []

    def update(self, answer: MetadataResponsePartition, epoch: int) -> bool:
        """Apply a response; return whether the leader changed."""
        self.error = codes.of(answer.error_code)
        # unchanged objects are kept, so that the response can be freed as a whole
        if self.replicas != answer.replica_nodes:
            self.replicas = answer.replica_nodes
        if self.isr != answer.isr_nodes:
            self.isr = answer.isr_nodes
        if 0 <= epoch < self.epoch and self.rewinds < REWINDS:
            self.rewinds += 1
            return False
        if self.error and answer.leader_id < 0 and epoch <= self.epoch:
            return False  # an error without a new leader: the known leader may still be valid
        self.rewinds = 0
        before = self.leader, self.epoch
        self.leader, self.epoch = answer.leader_id, epoch
        return before != (self.leader, self.epoch)


class Topic:
    """The known state of a topic. `error` is that of the last response, if it had one."""

    __slots__ = ("error", "id", "internal", "name", "partitions")

    def __init__(self, name: str) -> None:
        self.name = name
        self.id = NO_ID
        self.internal = False
        self.error: ErrorCode = codes.NONE
        self.partitions: dict[int, Partition] = {}


class Topology:
    """The known state of the cluster."""

    def __init__(self) -> None:
        self.cluster_id: str | None = None
        self.controller_id = -1
        self.nodes: dict[int, Node] = {}
        self.topics: dict[str, Topic] = {}
        self.version = 0  # grows whenever a leader may have changed
        self._names: dict[bytes, str] = {}

    def update(self, answer: MetadataResponse, *, reliable_epochs: bool) -> set[str]:
        """Apply a metadata response; return the topics with new information about leaders. Before version 9 a broker's
        epochs are unreliable and count as unknown."""
        self.version += 1
        if answer.brokers:  # -1 is not a broker, even if a response says so: it means that a partition has no leader
            self.nodes = {b.node_id: Node(b.node_id, b.host, b.port, b.rack) for b in answer.brokers if b.node_id >= 0}
        if None not in (self.cluster_id, answer.cluster_id) and self.cluster_id != answer.cluster_id:
            self._other_cluster()
        self.cluster_id = answer.cluster_id or self.cluster_id
        self.controller_id = answer.controller_id
        named = [topic for topic in answer.topics if topic.name]
        return {topic.name for topic in named if topic.name and self._update_topic(topic, topic.name, reliable_epochs)}

    def _other_cluster(self) -> None:
        """Start over, because the bootstrap address now leads to another cluster."""
        for topic in self.topics.values():
            for known in topic.partitions.values():
                known.epoch = -1

    def _update_topic(self, answer: MetadataResponseTopic, name: str, reliable_epochs: bool) -> bool:
        topic = self.topics.get(name)
        if topic is None:
            topic = self.topics[name] = Topic(name)
        topic.error = codes.of(answer.error_code)
        if topic.error and not answer.partitions:
            return False
        topic.internal = answer.is_internal
        if answer.topic_id not in (topic.id, NO_ID):
            # a recreated topic, or the id was unknown before: its epochs start again
            if topic.id != NO_ID:
                topic.partitions.clear()
            for known in topic.partitions.values():
                known.epoch = -1
            self._names.pop(topic.id, None)
            topic.id = answer.topic_id
            self._names[topic.id] = name
        changed = [
            topic.partitions.setdefault(partition.partition_index, Partition()).update(
                partition, partition.leader_epoch if reliable_epochs else -1
            )
            for partition in answer.partitions
        ]
        return any(changed)

    def partition(self, at: TopicPartition) -> Partition | None:
        name, partition = at
        topic = self.topics.get(name)
        return topic.partitions.get(partition) if topic is not None else None

    def name_of(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def meet(self, node: Node) -> Node:
        """Add a node from a response other than metadata. For a known node, only its address can have changed."""
        known = self.nodes.get(node.id)
        if known is not None and (known.host, known.port) == (node.host, node.port):
            return known
        self.nodes[node.id] = node
        return node

    def hint(self, at: TopicPartition, leader_id: int, epoch: int, endpoint: Node | None) -> bool:
        """Apply a newer leader from a Produce or Fetch response (KIP-951); return whether it is the known leader now.
        Several requests in flight bring the same hint: repeating it is neither news nor a contradiction."""
        known = self.partition(at)
        if known is None or leader_id < 0 or epoch < known.epoch:
            return False
        if endpoint is not None and endpoint.id == leader_id:
            self.meet(endpoint)
        if leader_id not in self.nodes:
            return False
        if epoch == known.epoch:
            return leader_id == known.leader
        known.leader, known.epoch, known.rewinds = leader_id, epoch, 0
        return True
