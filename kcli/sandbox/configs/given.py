"""What a broker of the sandbox was started with, under the names of Kafka's server.properties."""

from __future__ import annotations

from kcli.sandbox.cluster.cluster import SandboxCluster
from kcli.sandbox.configs.group_configs import GROUP_CONFIGS
from kcli.sandbox.faults.control_client import CONTROL
from kcli.sandbox.wire.broker import SandboxBroker

INTERVALS = ("consumer.heartbeat.interval.ms", "share.heartbeat.interval.ms")


def given(cluster: SandboxCluster, broker: SandboxBroker) -> dict[str, str]:
    """By name, the values of this broker."""
    settings = cluster.settings
    protocol = ("SASL_" if settings.sasl is not None else "") + ("SSL" if settings.tls is not None else "PLAINTEXT")
    values = {
        "advertised.listeners": f"{protocol}://{settings.advertised_host}:{broker.port}",
        "auto.create.topics.enable": str(settings.auto_create).lower(),
        "broker.id": str(broker.node_id),
        "default.replication.factor": str(cluster.topics.copies(-1)),
        "group.consumer.migration.policy": settings.migration_policy,
        "group.initial.rebalance.delay.ms": str(round(settings.rebalance_delay * 1000)),
        "listeners": f"{protocol}://{settings.host}:{broker.port}",
        "log.dirs": ",".join(settings.directories(broker.node_id)),
        "node.id": str(broker.node_id),
        "num.partitions": str(settings.partitions),
        "process.roles": "broker,controller",
    }
    for name in INTERVALS:
        values[GROUP_CONFIGS[name].broker] = GROUP_CONFIGS[name].default
    if broker.rack is not None:
        values["broker.rack"] = broker.rack
    if cluster.access.authorizer is not None:
        authorizer = cluster.access.authorizer
        values["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
        values["super.users"] = ";".join(authorizer.super_users)
        values["allow.everyone.if.no.acl.found"] = str(authorizer.everyone).lower()
    if cluster.control is not None:
        values[CONTROL] = cluster.control.address
    return values
