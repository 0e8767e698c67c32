"""Configurations of brokers: the names of Kafka 4.4 with their defaults, and what is set while they run. The throttles
are obeyed by moves.py, and topics without a value of their own take the one of all brokers; the others are kept."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.configs import definitions
from kcli.sandbox.configs.definitions import APPEND, DELETE, LIST, LONG, LONGEST, SUBTRACT, Definition, Operation
from kcli.sandbox.configs.topic_configs import TOPIC_CONFIGS

LEADER_RATE, FOLLOWER_RATE = "leader.replication.throttled.rate", "follower.replication.throttled.rate"
DISK_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
THROTTLES = (LEADER_RATE, FOLLOWER_RATE, DISK_RATE)
THROTTLE = Definition(LONG, LONGEST, "Bytes per second.", low=0)
ALL = ""  # the name of all brokers
MIN_ISR = "min.insync.replicas"
THREADS = (
    "background.threads",
    "log.cleaner.threads",
    "num.io.threads",
    "num.network.threads",
    "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
    "remote.log.reader.threads",
)
"""Numbers of threads: one change doubles or halves them at most."""
AT_LEAST = {
    "log.cleaner.backoff.ms": 0,
    "log.cleaner.dedupe.buffer.size": 1024 * 1024,
    "max.connection.creation.rate": 0,
    "max.connections": 0,
    "max.connections.per.ip": 0,
    "message.max.bytes": 0,
}
"""The lowest value, where it is not that of a topic's config."""
PER_BROKER = (
    "advertised.listeners", "cordoned.log.dirs", "listener.name.", "listener.security.protocol.map", "listeners",
    "principal.builder.class", "sasl.", "ssl.",
)  # fmt: skip
"""Names, and beginnings of names, that may differ between brokers and so are not set for all."""
PER_LISTENER = ("ssl.engine.", "ssl.key.", "ssl.keystore.", "ssl.truststore.")
"""Beginnings of names that are set with listener.name.NAME. before them only."""


WORDS = {
    "advertised.listeners": "The addresses that clients connect to.",
    "auto.create.topics.enable": "Whether a topic is created when a client asks for it.",
    "background.threads": "Threads for background work.",
    "broker.id": "The id of the broker.",
    "default.replication.factor": "Replicas of topics that do not say how many.",
    "group.consumer.heartbeat.interval.ms": "Time between two heartbeats of a member, in ms.",
    "group.initial.rebalance.delay.ms": "Time that the first rebalance of a group waits for more members, in ms.",
    "group.share.heartbeat.interval.ms": "Time between two heartbeats of a member, in ms.",
    "listeners": "The addresses that the broker listens on.",
    "log.dirs": "The directories of the logs.",
    "node.id": "The id of the node.",
    "num.io.threads": "Threads that answer requests.",
    "num.network.threads": "Threads that read and write sockets.",
    "num.partitions": "Partitions of topics that do not say how many.",
    "process.roles": "The roles of the node: broker, controller or both.",
    "socket.request.max.bytes": "Largest request, in bytes.",
}


NAMES = """
add.partitions.to.txn.retry.backoff.max.ms 3 r 100
add.partitions.to.txn.retry.backoff.ms 3 r 20
advertised.listeners 7 r
alter.config.policy.class.name 8 r
alter.log.dirs.replication.quota.window.num 3 r 11
alter.log.dirs.replication.quota.window.size.seconds 3 r 1
authorizer.class.name 2 r ""
auto.create.topics.enable 1 r true
auto.leader.rebalance.enable 1 r true
background.threads 3 d 10
broker.heartbeat.interval.ms 3 r 2000
broker.id 3 r -1
broker.rack 2 r
broker.session.timeout.ms 3 r 9000
client.quota.callback.class 8 r
compression.gzip.level 3 d -1
compression.lz4.level 3 d 9
compression.type 2 d producer
compression.zstd.level 3 d 3
config.providers 7 d ""
connection.failed.authentication.delay.ms 3 r 100
connections.max.idle.ms 5 r 600000
connections.max.reauth.ms 5 r 0
controlled.shutdown.enable 1 r true
controller.listener.names 7 r
controller.quorum.append.linger.ms 3 r 25
controller.quorum.auto.join.enable 1 r false
controller.quorum.bootstrap.servers 7 r ""
controller.quorum.election.backoff.max.ms 3 r 1000
controller.quorum.election.timeout.ms 3 r 1000
controller.quorum.fetch.max.bytes 3 r 1048576
controller.quorum.fetch.snapshot.max.bytes 3 r 1048576
controller.quorum.fetch.timeout.ms 3 r 2000
controller.quorum.request.timeout.ms 3 r 2000
controller.quorum.retry.backoff.ms 3 r 20
controller.quorum.voters 7 r ""
controller.quota.window.num 3 r 11
controller.quota.window.size.seconds 3 r 1
controller.socket.timeout.ms 3 r 30000
cordoned.log.dirs 7 d ""
create.topic.policy.class.name 8 r
default.replication.factor 3 r 1
delegation.token.expiry.check.interval.ms 5 r 3600000
delegation.token.expiry.time.ms 5 r 86400000
delegation.token.max.lifetime.ms 5 r 604800000
delegation.token.secret.key 9 rs
delete.records.purgatory.purge.interval.requests 3 r 1
delete.topic.enable 1 r true
early.start.listeners 7 r
errors.deadletterqueue.auto.create.topics.enable 1 d false
errors.deadletterqueue.topic.name.prefix 2 d dlq.
fetch.max.bytes 3 r 57671680
fetch.purgatory.purge.interval.requests 3 r 1000
follower.fetch.last.tiered.offset.enable 1 d false
group.consumer.assignment.interval.ms 3 d 1000
group.consumer.assignors 7 r uniform,range
group.consumer.heartbeat.interval.ms 3 r 5000
group.consumer.max.assignment.interval.ms 3 r 15000
group.consumer.max.heartbeat.interval.ms 3 r 15000
group.consumer.max.session.timeout.ms 3 r 60000
group.consumer.max.size 3 r 2147483647
group.consumer.migration.policy 2 r bidirectional
group.consumer.min.assignment.interval.ms 3 r 0
group.consumer.min.heartbeat.interval.ms 3 r 5000
group.consumer.min.session.timeout.ms 3 r 45000
group.consumer.session.timeout.ms 3 r 45000
group.coordinator.append.linger.ms 3 r -1
group.coordinator.background.threads 3 r 2
group.coordinator.cached.buffer.max.bytes 3 d 1048588
group.coordinator.rebalance.protocols 7 r classic,consumer,streams
group.coordinator.threads 3 r 4
group.initial.rebalance.delay.ms 3 r 3000
group.max.session.timeout.ms 3 r 1800000
group.max.size 3 r 2147483647
group.min.session.timeout.ms 3 r 6000
group.share.assignment.interval.ms 3 d 1000
group.share.assignors 7 r simple
group.share.delivery.count.limit 3 r 5
group.share.heartbeat.interval.ms 3 r 5000
group.share.max.assignment.interval.ms 3 r 15000
group.share.max.delivery.count.limit 3 r 10
group.share.max.heartbeat.interval.ms 3 r 15000
group.share.max.partition.max.record.locks 3 r 4000
group.share.max.record.lock.duration.ms 3 r 60000
group.share.max.session.timeout.ms 3 r 60000
group.share.max.share.sessions 3 r 2000
group.share.max.size 3 r 200
group.share.min.assignment.interval.ms 3 r 0
group.share.min.delivery.count.limit 3 r 2
group.share.min.heartbeat.interval.ms 3 r 5000
group.share.min.partition.max.record.locks 3 r 100
group.share.min.record.lock.duration.ms 3 r 15000
group.share.min.session.timeout.ms 3 r 45000
group.share.partition.max.record.locks 3 r 2000
group.share.record.lock.duration.ms 3 r 30000
group.share.session.timeout.ms 3 r 45000
group.streams.assignment.interval.ms 3 d 1000
group.streams.assignors 7 r sticky
group.streams.heartbeat.interval.ms 3 r 5000
group.streams.initial.rebalance.delay.ms 3 r 3000
group.streams.max.assignment.interval.ms 3 r 15000
group.streams.max.heartbeat.interval.ms 3 r 15000
group.streams.max.session.timeout.ms 3 r 60000
group.streams.max.size 3 r 2147483647
group.streams.max.standby.replicas 3 r 2
group.streams.min.assignment.interval.ms 3 r 0
group.streams.min.heartbeat.interval.ms 3 r 5000
group.streams.min.session.timeout.ms 3 r 45000
group.streams.num.standby.replicas 3 r 0
group.streams.rack.aware.assignment.tags 7 r ""
group.streams.session.timeout.ms 3 r 45000
group.streams.topology.description.plugin.class 8 r
initial.broker.registration.timeout.ms 3 r 60000
inter.broker.listener.name 2 r
kafka.metrics.polling.interval.secs 3 r 10
kafka.metrics.reporters 7 r ""
leader.imbalance.check.interval.seconds 5 r 300
listener.security.protocol.map 2 d SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT
listeners 7 d PLAINTEXT://:9092
log.cleaner.backoff.ms 5 d 15000
log.cleaner.dedupe.buffer.size 5 d 134217728
log.cleaner.delete.retention.ms 5 d 86400000
log.cleaner.enable 1 r true
log.cleaner.io.buffer.load.factor 6 d 0.9
log.cleaner.io.buffer.size 3 d 524288
log.cleaner.io.max.bytes.per.second 6 d 1.7976931348623157E308
log.cleaner.max.compaction.lag.ms 5 d 9223372036854775807
log.cleaner.min.cleanable.ratio 6 d 0.5
log.cleaner.min.compaction.lag.ms 5 d 0
log.cleaner.threads 3 d 1
log.cleanup.policy 7 d delete
log.dir 7 r /tmp/kafka-logs
log.dir.failure.timeout.ms 5 r 30000
log.dirs 7 r
log.flush.interval.messages 5 d 9223372036854775807
log.flush.interval.ms 5 d
log.flush.offset.checkpoint.interval.ms 3 r 60000
log.flush.scheduler.interval.ms 5 r 9223372036854775807
log.flush.start.offset.checkpoint.interval.ms 3 r 60000
log.index.interval.bytes 3 d 4096
log.index.size.max.bytes 3 d 10485760
log.local.retention.bytes 5 d -2
log.local.retention.ms 5 d -2
log.message.timestamp.after.max.ms 5 d 3600000
log.message.timestamp.before.max.ms 5 d 9223372036854775807
log.message.timestamp.type 2 d CreateTime
log.preallocate 1 d false
log.remote.copy.lag.bytes 5 d -1
log.remote.copy.lag.ms 5 d 0
log.retention.bytes 5 d -1
log.retention.check.interval.ms 5 r 300000
log.retention.hours 3 r 168
log.retention.minutes 3 r
log.retention.ms 5 d
log.roll.hours 3 r 168
log.roll.jitter.hours 3 r 0
log.roll.jitter.ms 5 d
log.roll.ms 5 d
log.segment.bytes 3 d 1073741824
log.segment.delete.delay.ms 5 d 60000
max.connection.creation.rate 3 d 2147483647
max.connections 3 d 2147483647
max.connections.per.ip 3 d 2147483647
max.connections.per.ip.overrides 2 d ""
max.decompressed.message.bytes 3 d 2147483639
max.incremental.fetch.session.cache.slots 3 r 1000
max.request.partition.size.limit 3 r 2000
message.max.bytes 3 d 1048588
metadata.log.dir 2 r
metadata.log.max.record.bytes.between.snapshots 5 r 20971520
metadata.log.max.snapshot.interval.ms 5 r 3600000
metadata.log.segment.bytes 3 r 1073741824
metadata.log.segment.ms 5 r 604800000
metadata.max.idle.interval.ms 3 r 500
metadata.max.retention.bytes 5 r 104857600
metadata.max.retention.ms 5 r 604800000
metric.reporters 7 d org.apache.kafka.common.metrics.JmxReporter
metrics.num.samples 3 r 2
metrics.recording.level 2 r INFO
metrics.sample.window.ms 5 r 30000
min.insync.replicas 3 d 1
node.id 3 r
num.io.threads 3 d 8
num.network.threads 3 d 3
num.partitions 3 r 1
num.recovery.threads.per.data.dir 3 d 2
num.replica.alter.log.dirs.threads 3 r
num.replica.fetchers 3 d 1
offset.metadata.max.bytes 3 r 4096
offsets.commit.timeout.ms 3 r 5000
offsets.load.buffer.size 3 r 5242880
offsets.retention.check.interval.ms 5 r 600000
offsets.retention.minutes 3 r 10080
offsets.topic.compression.codec 3 r 0
offsets.topic.num.partitions 3 r 50
offsets.topic.replication.factor 4 r 3
offsets.topic.segment.bytes 3 r 104857600
principal.builder.class 8 d org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder
process.roles 7 r
producer.id.expiration.ms 3 d 86400000
producer.purgatory.purge.interval.requests 3 r 1000
queued.max.request.bytes 5 r -1
queued.max.requests 3 r 500
quota.window.num 3 r 11
quota.window.size.seconds 3 r 1
remote.fetch.max.wait.ms 3 d 500
remote.list.offsets.request.timeout.ms 5 d 30000
remote.log.index.file.cache.total.size.bytes 5 d 1073741824
remote.log.manager.copier.thread.pool.size 3 d 10
remote.log.manager.copy.max.bytes.per.second 5 d 9223372036854775807
remote.log.manager.copy.quota.window.num 3 r 11
remote.log.manager.copy.quota.window.size.seconds 3 r 1
remote.log.manager.expiration.thread.pool.size 3 d 10
remote.log.manager.fetch.max.bytes.per.second 5 d 9223372036854775807
remote.log.manager.fetch.quota.window.num 3 r 11
remote.log.manager.fetch.quota.window.size.seconds 3 r 1
remote.log.manager.follower.thread.pool.size 3 d 2
remote.log.manager.task.interval.ms 5 r 30000
remote.log.manager.thread.pool.size 3 r 2
remote.log.metadata.custom.metadata.max.bytes 3 r 128
remote.log.metadata.manager.class.name 2 r org.apache.kafka.server.log.remote.metadata.storage.\
TopicBasedRemoteLogMetadataManager
remote.log.metadata.manager.class.path 2 r
remote.log.metadata.manager.impl.prefix 2 r rlmm.config.
remote.log.metadata.manager.listener.name 2 r
remote.log.reader.max.pending.tasks 3 r 100
remote.log.reader.threads 3 d 10
remote.log.storage.manager.class.name 2 r
remote.log.storage.manager.class.path 2 r
remote.log.storage.manager.impl.prefix 2 r rsm.config.
remote.log.storage.system.enable 1 r false
replica.fetch.backoff.ms 3 r 1000
replica.fetch.max.bytes 3 r 1048576
replica.fetch.min.bytes 3 r 1
replica.fetch.response.max.bytes 3 r 10485760
replica.fetch.wait.max.ms 3 r 500
replica.high.watermark.checkpoint.interval.ms 5 r 5000
replica.lag.time.max.ms 5 r 30000
replica.selector.class 2 r
replica.socket.receive.buffer.bytes 3 r 65536
replica.socket.timeout.ms 3 r 30000
replication.quota.window.num 3 r 11
replication.quota.window.size.seconds 3 r 1
request.timeout.ms 3 r 30000
sasl.client.callback.handler.class 8 r
sasl.enabled.mechanisms 7 d GSSAPI
sasl.jaas.config 9 ds
sasl.kerberos.kinit.cmd 2 d /usr/bin/kinit
sasl.kerberos.min.time.before.relogin 5 d 60000
sasl.kerberos.principal.to.local.rules 7 d DEFAULT
sasl.kerberos.service.name 2 d
sasl.kerberos.ticket.renew.jitter 6 d 0.05
sasl.kerberos.ticket.renew.window.factor 6 d 0.8
sasl.login.callback.handler.class 8 r
sasl.login.class 8 r
sasl.login.connect.timeout.ms 3 r
sasl.login.read.timeout.ms 3 r
sasl.login.refresh.buffer.seconds 4 d 300
sasl.login.refresh.min.period.seconds 4 d 60
sasl.login.refresh.window.factor 6 d 0.8
sasl.login.refresh.window.jitter 6 d 0.05
sasl.login.retry.backoff.max.ms 5 r 10000
sasl.login.retry.backoff.ms 5 r 100
sasl.mechanism.controller.protocol 2 r GSSAPI
sasl.mechanism.inter.broker.protocol 2 d GSSAPI
sasl.oauthbearer.allow.unverified.audience 1 r false
sasl.oauthbearer.allow.unverified.issuer 1 r false
sasl.oauthbearer.assertion.algorithm 2 r RS256
sasl.oauthbearer.assertion.claim.aud 2 r
sasl.oauthbearer.assertion.claim.exp.seconds 3 r 300
sasl.oauthbearer.assertion.claim.iss 2 r
sasl.oauthbearer.assertion.claim.jti.include 1 r false
sasl.oauthbearer.assertion.claim.nbf.seconds 3 r 60
sasl.oauthbearer.assertion.claim.sub 2 r
sasl.oauthbearer.assertion.file 2 r
sasl.oauthbearer.assertion.private.key.file 2 r
sasl.oauthbearer.assertion.private.key.passphrase 9 rs
sasl.oauthbearer.assertion.template.file 2 r
sasl.oauthbearer.client.credentials.client.id 2 r
sasl.oauthbearer.client.credentials.client.secret 9 rs
sasl.oauthbearer.clock.skew.seconds 3 r 30
sasl.oauthbearer.expected.audience 7 r ""
sasl.oauthbearer.expected.issuer 2 r
sasl.oauthbearer.jwks.endpoint.refresh.ms 5 r 3600000
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms 5 r 10000
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms 5 r 100
sasl.oauthbearer.jwks.endpoint.url 2 r
sasl.oauthbearer.jwt.retriever.class 8 r org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
sasl.oauthbearer.jwt.validator.class 8 r org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
sasl.oauthbearer.scope 2 r
sasl.oauthbearer.scope.claim.name 2 r scope
sasl.oauthbearer.sub.claim.name 2 r sub
sasl.oauthbearer.token.endpoint.url 2 r
sasl.server.callback.handler.class 8 r
sasl.server.max.receive.size 3 r 524288
security.inter.broker.protocol 2 r PLAINTEXT
security.providers 2 r
share.coordinator.append.linger.ms 3 r -1
share.coordinator.cached.buffer.max.bytes 3 d 1048588
share.coordinator.load.buffer.size 3 r 5242880
share.coordinator.snapshot.update.records.per.snapshot 3 r 500
share.coordinator.state.topic.compression.codec 3 r 0
share.coordinator.state.topic.min.isr 4 r 2
share.coordinator.state.topic.num.partitions 3 r 50
share.coordinator.state.topic.replication.factor 4 r 3
share.coordinator.state.topic.segment.bytes 3 r 104857600
share.coordinator.threads 3 r 1
share.coordinator.write.timeout.ms 3 r 5000
share.fetch.purgatory.purge.interval.requests 3 r 1000
socket.connection.setup.timeout.max.ms 5 r 30000
socket.connection.setup.timeout.ms 5 r 10000
socket.listen.backlog.size 3 r 50
socket.receive.buffer.bytes 3 r 102400
socket.request.max.bytes 3 r 104857600
socket.send.buffer.bytes 3 r 102400
ssl.allow.dn.changes 1 r false
ssl.allow.san.changes 1 r false
ssl.cipher.suites 7 d ""
ssl.client.auth 2 d none
ssl.enabled.protocols 7 d TLSv1.2,TLSv1.3
ssl.endpoint.identification.algorithm 2 d https
ssl.engine.factory.class 8 d
ssl.key.password 9 ds
ssl.keymanager.algorithm 2 d SunX509
ssl.keystore.certificate.chain 9 ds
ssl.keystore.key 9 ds
ssl.keystore.location 2 d
ssl.keystore.password 9 ds
ssl.keystore.type 2 d JKS
ssl.principal.mapping.rules 2 r DEFAULT
ssl.protocol 2 d TLSv1.3
ssl.provider 2 d
ssl.secure.random.implementation 2 d
ssl.trustmanager.algorithm 2 d PKIX
ssl.truststore.certificates 9 ds
ssl.truststore.location 2 d
ssl.truststore.password 9 ds
ssl.truststore.type 2 d JKS
telemetry.max.bytes 3 r 1048576
transaction.abort.timed.out.transaction.cleanup.interval.ms 3 r 10000
transaction.max.timeout.ms 3 r 900000
transaction.partition.verification.enable 1 d true
transaction.remove.expired.transaction.cleanup.interval.ms 3 r 3600000
transaction.state.log.load.buffer.size 3 r 5242880
transaction.state.log.min.isr 3 r 2
transaction.state.log.num.partitions 3 r 50
transaction.state.log.replication.factor 4 r 3
transaction.state.log.segment.bytes 3 r 104857600
transaction.two.phase.commit.enable 1 r false
transactional.id.expiration.ms 3 r 604800000
unclean.leader.election.enable 1 d false
"""


class BrokerName(NamedTuple):
    """A name that Kafka's brokers know."""

    definition: Definition
    read_only: bool
    sensitive: bool
    has_default: bool


@cache
def names() -> dict[str, BrokerName]:
    """The names of Kafka's brokers, without the throttles, which a broker describes only when they are set."""
    topics = {topic.broker: topic for topic in TOPIC_CONFIGS.values() if topic.broker}
    found = {}
    for line in NAMES.strip().splitlines():
        name, kind, flags, *default = line.split(" ", 3)
        topic = topics.get(name, Definition(int(kind), ""))
        value = default[0].replace('""', "") if default else ""
        low = AT_LEAST.get(name, topic.low if default else None)
        words = WORDS.get(name, topic.words)
        definition = Definition(int(kind), value, words, low=low, high=topic.high, choices=topic.choices)
        found[name] = BrokerName(definition, flags.startswith("r"), "s" in flags, bool(default))
    return found


class BrokerConfigs:
    """Overrides by broker id as text; `ALL` applies to brokers without their own. Formatting the disks of a Kafka sets
    `min.insync.replicas` for all brokers (KIP-966)."""

    def __init__(self) -> None:
        self.by_broker: dict[str, dict[str, str]] = {ALL: {MIN_ISR: TOPIC_CONFIGS[MIN_ISR].default}}

    def rate(self, node: int, name: str) -> float | None:
        """Bytes per second; None for no limit."""
        text = self.by_broker.get(str(node), {}).get(name) or self.by_broker.get(ALL, {}).get(name)
        return None if text is None else float(text)

    def topic_default(self, name: str) -> str:
        """The value of topics without an override."""
        definition = TOPIC_CONFIGS[name]
        return self.by_broker[ALL].get(definition.broker, definition.default)

    def altered(self, broker: str, operations: Iterable[Operation]) -> dict[str, str]:
        """What would be set after these operations. Raises BrokerError INVALID_REQUEST or INVALID_CONFIG."""
        changed = dict(self.by_broker.get(broker, {}))
        for name, operation, value in operations:
            known = names().get(name)
            if known is not None and (known.read_only or name.startswith(PER_LISTENER)):
                raise _refused(f"Cannot update these configs dynamically: {name}")
            if broker == ALL and name.startswith(PER_BROKER):
                raise _refused(f"Cannot update these configs at default cluster level: {name}")
            definition = known.definition if known is not None else THROTTLE if name in THROTTLES else None
            if operation in (APPEND, SUBTRACT):
                if definition is None or definition.kind != LIST:
                    raise definitions.invalid(f"Can't append or subtract to config key {name}: it is not a list.")
                value = definitions.listed(changed.get(name, definition.default), operation, value or "")
            if operation == DELETE:
                changed.pop(name, None)
            else:
                changed[name] = _fitting(definition, name, value or "")
                if name in THREADS:
                    self._check_threads(broker, name, int(value or ""))
            if name == MIN_ISR and (broker != ALL or operation == DELETE):
                raise definitions.invalid("min.insync.replicas of a broker cannot be altered: KIP-966 is in force.")
        return changed

    def _check_threads(self, broker: str, name: str, count: int) -> None:
        """Raises BrokerError INVALID_REQUEST for less than half as many, or more than twice."""
        default = names()[name].definition.default
        now = int(self.by_broker.get(broker, {}).get(name) or self.by_broker[ALL].get(name) or default)
        if count < 1 or count < now // 2 or count > now * 2:
            raise _refused(f"Dynamic thread count update validation failed for {name}={count}: it is {now} now")


def _fitting(definition: Definition | None, name: str, value: str) -> str:
    """The value, if it may be set; any value of a name that the broker does not know. Raises BrokerError
    INVALID_REQUEST."""
    try:
        if definition is not None:
            definition.check(name, value)
    except ValueError as wrong:
        raise _refused(str(wrong)) from wrong
    return value


def _refused(words: str) -> BrokerError:
    return BrokerError(codes.INVALID_REQUEST, message=words)
