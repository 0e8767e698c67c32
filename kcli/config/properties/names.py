"""Property names other than `known.KNOWN`: about security, without effect here, and refused ones.

Imported for names that are otherwise unknown. The lists are those of the clients of Kafka 4.4 and librdkafka 2.16.
"""

from __future__ import annotations

from kcli.property_names import ASSERTION, AWS, KERBEROS, OAUTH, SASL, TLS

SECURITY = ("security.protocol", *TLS, *SASL, *OAUTH, *ASSERTION, *KERBEROS, *AWS)

# Names or prefixes of properties that would make a connection less safe, or a different one, if they were ignored.
REFUSED = {
    "ssl.crl.location": "revocation lists are not read: a broker whose certificate was revoked would be trusted",
    "ssl.engine.factory.class": "kcli cannot run Java classes",
    "ssl.engine.": "keys of an OpenSSL engine are not supported; use PEM files",
    "ssl.certificate.verify_cb": "a callback cannot be set in a configuration",
    "sasl.login.class": "kcli cannot run Java classes",
    "security.providers": "kcli cannot run Java classes",
    "sasl.oauthbearer.metadata.": "cloud metadata is not supported; let sasl.oauthbearer.token.command print a token",
    "print.": "this is a property of kafka-console-consumer",
    "parse.key": "this is a property of kafka-console-producer",
    "key.separator": "this is a property of Kafka's console tools",
    "line.separator": "this is a property of Kafka's console tools",
    "transaction.two.phase.commit.enable": "two-phase commit (KIP-939) is not supported",
}

INSTEAD = {
    "line.separator": "delimiter",
    "key.separator": "key-delimiter",
    "parse.key": "key-delimiter",
    "print.": "template",
}
"""The hints of some of these."""

# Properties of Java or librdkafka clients that do not apply to kcli, or that kcli handles differently.
_ELSEWHERE = """
    api.version.fallback.ms api.version.request api.version.request.timeout.ms auto.commit.enable
    auto.include.jmx.reporter background_event_cb bootstrap.controllers bootstrap.resolve.timeout.ms
    broker.address.family broker.address.ttl broker.version.fallback buffer.memory.allocation.strategy
    builtin.features client.dns.lookup closesocket_cb compression.gzip.level compression.lz4.level
    compression.zstd.level config.providers connect_cb consume.callback.max.messages consume_cb
    coordinator.query.interval.ms debug default_topic_conf delivery.report.only.error dr_cb dr_msg_cb
    enable.auto.offset.store enable.gapless.guarantee enable.partition.eof enable.random.seed
    enable.sasl.oauthbearer.unsecure.jwt enabled_events error_cb exclude.internal.topics fetch.error.backoff.ms
    fetch.queue.backoff.ms group.protocol.type https.ca.pem interceptor.classes interceptors
    internal.leave.group.on.close internal.termination.signal internal.throw.on.fetch.stable.offset.unsupported
    key.deserializer key.serializer log.connection.close log.queue log.thread.name log_cb log_level max.poll.records
    message.copy.max.bytes metadata.max.idle.ms metadata.recovery.strategy metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms msg_order_cmp oauthbearer_token_refresh_cb offset.store.method
    offset.store.path offset.store.sync.interval.ms offset_commit_cb opaque open_cb
    partitioner.adaptive.partitioning.enable partitioner.class partitioner.ignore.keys partitioner.rack.aware
    partitioner_cb plugin.library.paths produce.offset.report queue.buffering.backpressure.threshold
    queued.min.messages queuing.strategy rebalance_cb receive.buffer.bytes reconnect.backoff.jitter.ms resolve_cb
    sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.ticket.renew.jitter
    sasl.kerberos.ticket.renew.window.factor sasl.login.connect.timeout.ms sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor sasl.login.refresh.window.jitter
    sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.oauthbearer.clock.skew.seconds
    sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer sasl.oauthbearer.header.urlencode
    sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url
    sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
    send.buffer.bytes share.acknowledgement.mode share.acquire.mode socket.blocking.max.ms socket.keepalive.enable
    socket.max.fails socket.nagle.disable socket.receive.buffer.bytes socket.send.buffer.bytes socket_cb
    ssl.ca.certificate.stores ssl.curves.list ssl.keymanager.algorithm ssl.provider ssl.providers
    ssl.secure.random.implementation ssl.sigalgs.list ssl.trustmanager.algorithm ssl_ca ssl_certificate
    ssl_engine_callback_data ssl_key statistics.interval.ms stats_cb sticky.partitioning.linger.ms throttle_cb
    topic.blacklist topic.metadata.propagation.max.ms topic.metadata.refresh.fast.cnt
    topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms topic.metadata.refresh.sparse
    value.deserializer value.serializer
"""
ELSEWHERE = frozenset(_ELSEWHERE.split())
OPEN_ENDED = (
    *("config.providers.", "schema.registry.", "basic.auth.", "bearer.auth.", "confluent.", "specific.avro."),
    "auto.register.",
)
"""Prefixes of names that other tools put into the same files."""
REGISTRY_PREFIX = "schema.registry."
_OF_A_REGISTRY = """
    url kind allow.insecure.auth azure.group
    basic.auth.credentials.source basic.auth.user.info bearer.auth.client.id
    bearer.auth.client.secret bearer.auth.credentials.source bearer.auth.identity.pool.id
    bearer.auth.issuer.endpoint.url bearer.auth.logical.cluster bearer.auth.scope bearer.auth.token
    bearer.auth.token.command bearer.auth.token.file glue.region glue.registry.name
    http.connect.timeout.ms http.read.timeout.ms key.subject.name.strategy proxy value.subject.name.strategy
"""
OF_A_REGISTRY = (*_OF_A_REGISTRY.split(), *TLS)
"""The properties of a schema registry, without the prefix."""
UNPREFIXED = ("basic.auth.", "bearer.auth.", "http.", "key.subject.", "value.subject.")
"""Prefixes of properties that Java clients also accept without the registry's prefix."""


def of_a_registry(key: str) -> str:
    """Return the name of a registry's property without its prefix, which is optional for basic.auth.*, bearer.auth.*,
    the HTTP timeouts and subject strategies. "" for all others: ssl.* belongs to brokers."""
    bare = key.removeprefix(REGISTRY_PREFIX)
    if bare not in OF_A_REGISTRY:
        return ""
    return bare if bare != key or bare.startswith(UNPREFIXED) else ""


def refusal_of(key: str) -> str:
    """Return the name or prefix in REFUSED that matches a property; "" if it is not refused."""
    return next((name for name in REFUSED if key == name or (name.endswith(".") and key.startswith(name))), "")


def elsewhere(key: str) -> bool:
    """Whether a property only applies to other programs."""
    return key in ELSEWHERE or key.startswith(OPEN_ENDED)
