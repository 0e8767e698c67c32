"""Partitions by the id of their topic, as KIP-848 names them, and by its name, as ConsumerProtocol does."""

from __future__ import annotations

from collections.abc import Iterable

from kcli.model import TopicPartition
from kcli.sandbox.cluster.topics import Topics
from kcli.sandbox.groups.consumer.assignors import Place


def places(topics: Topics, partitions: Iterable[TopicPartition]) -> set[Place]:
    """The partitions by topic id, without those of deleted topics."""
    known = topics.by_name
    return {(known[each.topic].id, each.partition) for each in partitions if each.topic in known}


def named(topics: Topics, found: Iterable[Place]) -> list[TopicPartition]:
    """The partitions by topic name, without those of deleted topics."""
    known = topics.by_id
    return [TopicPartition(known[topic_id].name, number) for topic_id, number in found if topic_id in known]
