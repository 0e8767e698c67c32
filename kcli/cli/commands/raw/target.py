"""The broker that a request is sent to, as --broker names it."""

from __future__ import annotations

from kcli.admin.cluster.quorum import controller_of
from kcli.errors import UsageError
from kcli.model import Broker, Cluster, Group, TopicPartition, Transaction


def place(text: str | None) -> tuple[str, str]:
    """(any | controller | node | group | txn | leader, of what). Raises UsageError."""
    if text is None or text in ("any", "controller"):
        return text or "any", ""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return "node", text
    what, _, name = text.partition(":")
    if what in ("group", "txn") and name:
        return what, name
    topic, _, number = name.rpartition(":")
    if what == "leader" and topic and number.isascii() and number.isdecimal() and len(number) < 10:
        return what, name
    raise UsageError(f"--broker {text}: expected any, controller, a broker's id, group:NAME, txn:ID or leader:TOPIC:0")


async def broker_of(cluster: Cluster, text: str | None) -> Broker:
    """The broker that --broker names. Raises UsageError."""
    what, name = place(text)
    if what == "node":
        return await cluster.node(int(name))
    if what == "controller":
        leader = await controller_of(cluster, -1)
        reachable = leader in {node.id for node in await cluster.nodes()}
        return await (cluster.node(leader) if reachable else cluster.controller())
    if what == "group":
        return await cluster.coordinator(Group(name))
    if what == "txn":
        return await cluster.coordinator(Transaction(name))
    if what == "leader":
        topic, _, number = name.rpartition(":")
        return await cluster.leader(TopicPartition(topic, int(number)))
    return await cluster.anyone()
