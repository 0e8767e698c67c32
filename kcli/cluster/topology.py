"""The known cluster: nodes, topics, leaders. Pure: metadata responses in, facts out.

A bad response deletes nothing: a topic that is missing in one response, and a partition with an error, keep their last
state (C6). A leader's epoch never goes back, unless the topic was created again (C5).
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

REWINDS = 5  # this many older epochs in a row are believed after all (KAFKA-13488)


class Partition:
    """The leader of a partition, as far as known; -1 is none or unknown."""

    __slots__ = ("epoch", "error", "isr", "leader", "replicas", "rewinds")

    def __init__(self) -> None:
        self.leader = -1
        self.epoch = -1
        self.rewinds = 0
        self.error: ErrorCode = codes.NONE
        self.replicas: list[int] = []
        self.isr: list[int] = []

    def update(self, answer: MetadataResponsePartition, epoch: int) -> bool:
        """Take over a response; returns whether the leader changed."""
        self.error = codes.of(answer.error_code)
        if self.replicas != answer.replica_nodes:  # what did not change stays: the answer is freed as a whole
            self.replicas = answer.replica_nodes
        if self.isr != answer.isr_nodes:
            self.isr = answer.isr_nodes
        if 0 <= epoch < self.epoch and self.rewinds < REWINDS:
            self.rewinds += 1
            return False
        if self.error and answer.leader_id < 0 and epoch <= self.epoch:
            return False  # in trouble, and no other leader was elected: the known leader may still hold (C6)
        self.rewinds = 0
        before = self.leader, self.epoch
        self.leader, self.epoch = answer.leader_id, epoch
        return before != (self.leader, self.epoch)


class Topic:
    """The known state of one topic. `error` is that of the last response, if it had one."""

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
        self.version = 0  # grows whenever a leader may have changed
        self._names: dict[bytes, str] = {}

    def update(self, answer: MetadataResponse, *, reliable_epochs: bool) -> set[str]:
        """Take in a metadata answer; returns the topics of whose leaders something new was learnt.
        Before version 9 a broker's epochs are not reliable and count as unknown."""
        self.version += 1
        if answer.brokers:  # -1 is no broker, whatever an answer claims: it says that a partition has no leader
            self.nodes = {b.node_id: Node(b.node_id, b.host, b.port, b.rack) for b in answer.brokers if b.node_id >= 0}
        if None not in (self.cluster_id, answer.cluster_id) and self.cluster_id != answer.cluster_id:
            self._other_cluster()
        self.cluster_id = answer.cluster_id or self.cluster_id
        self.controller_id = answer.controller_id
        named = [topic for topic in answer.topics if topic.name]
        return {topic.name for topic in named if topic.name and self._update_topic(topic, topic.name, reliable_epochs)}

    def _other_cluster(self) -> None:
        """Behind the same name there is another cluster now (C16): its epochs start again."""
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
            # another topic of this name, or we did not know which one we had: its epochs start again (C5)
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
        """A node that an answer other than metadata names; of one that is known only the address can be news."""
        known = self.nodes.get(node.id)
        if known is not None and (known.host, known.port) == (node.host, node.port):
            return known
        self.nodes[node.id] = node
        return node

    def hint(self, at: TopicPartition, leader_id: int, epoch: int, endpoint: Node | None) -> bool:
        """A newer leader from a Produce or Fetch answer (KIP-951); True when it is the one we know now. Several
        requests that were under way bring the same hint: the second is no news and no contradiction."""
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
