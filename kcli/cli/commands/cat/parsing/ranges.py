"""What librdkafka takes for its numbers and its truth values; anything else ends a run before it begins, as in kcat."""

from __future__ import annotations

from kcli.cli.commands.cat.parsing.words import Fatal

INT = 2**31 - 1
RANGES: dict[str, tuple[int, int]] = {
    "acks": (-1, 1000),
    "api.version.fallback.ms": (0, 604_800_000),
    "api.version.request.timeout.ms": (1, 300_000),
    "auto.commit.interval.ms": (10, 86_400_000),
    "batch.num.messages": (1, 1_000_000),
    "batch.size": (1, INT),
    "broker.address.ttl": (0, 86_400_000),
    "compression.level": (-1, 12),
    "connections.max.idle.ms": (0, INT),
    "delivery.timeout.ms": (0, INT),
    "fetch.error.backoff.ms": (0, 300_000),
    "fetch.max.bytes": (0, 2_147_483_135),
    "fetch.message.max.bytes": (1, 1_000_000_000),
    "fetch.min.bytes": (1, 100_000_000),
    "fetch.wait.max.ms": (0, 300_000),
    "heartbeat.interval.ms": (1, 3_600_000),
    "linger.ms": (0, 900_000),
    "log_level": (0, 7),
    "max.in.flight": (1, 1_000_000),
    "max.in.flight.requests.per.connection": (1, 1_000_000),
    "max.partition.fetch.bytes": (1, 1_000_000_000),
    "max.poll.interval.ms": (1, 86_400_000),
    "message.copy.max.bytes": (0, 1_000_000_000),
    "message.max.bytes": (1000, 1_000_000_000),
    "message.send.max.retries": (0, INT),
    "message.timeout.ms": (0, INT),
    "metadata.max.age.ms": (1, 86_400_000),
    "queue.buffering.backpressure.threshold": (1, 1_000_000),
    "queue.buffering.max.kbytes": (1, INT),
    "queue.buffering.max.messages": (0, INT),
    "queue.buffering.max.ms": (0, 900_000),
    "queued.max.messages.kbytes": (1, 2_097_151),
    "queued.min.messages": (1, 10_000_000),
    "receive.message.max.bytes": (1000, INT),
    "reconnect.backoff.max.ms": (0, 3_600_000),
    "reconnect.backoff.ms": (0, 3_600_000),
    "request.required.acks": (-1, 1000),
    "request.timeout.ms": (1, 900_000),
    "retries": (0, INT),
    "retry.backoff.ms": (1, 300_000),
    "session.timeout.ms": (1, 3_600_000),
    "socket.connection.setup.timeout.ms": (1000, INT),
    "socket.max.fails": (0, 1_000_000),
    "socket.receive.buffer.bytes": (0, 100_000_000),
    "socket.send.buffer.bytes": (0, 100_000_000),
    "socket.timeout.ms": (10, 300_000),
    "statistics.interval.ms": (0, 86_400_000),
    "sticky.partitioning.linger.ms": (0, 900_000),
    "topic.metadata.propagation.max.ms": (0, 3_600_000),
    "topic.metadata.refresh.fast.cnt": (0, 1000),
    "topic.metadata.refresh.fast.interval.ms": (1, 60_000),
    "topic.metadata.refresh.interval.ms": (-1, 3_600_000),
    "transaction.timeout.ms": (1000, INT),
}
TRUE, FALSE = ("true", "t", "1"), ("false", "f", "0")


def check(name: str, value: str) -> None:
    """Raises Fatal for a number that is outside of what there may be."""
    allowed = RANGES.get(name)
    if allowed is None:
        return
    try:
        number = float(value)
    except ValueError:
        return  # whoever makes a setting of it says so, or it is a word, as in acks=all
    if not allowed[0] <= number <= allowed[1]:
        raise Fatal(
            f'Configuration property "{name}" value {value} is outside allowed range {allowed[0]}..{allowed[1]}'
        )


def truth(value: str) -> str:
    """librdkafka's ways to say true and false as ours; anything else as it is."""
    text = value.lower()
    return "true" if text in TRUE else "false" if text in FALSE else value
