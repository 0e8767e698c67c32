"""Makes the golden files: the same records in every format and codec, by others' hands.

    python -m tests.proto.golden.make

kafka-python and aiokafka build batches and message sets themselves; what librdkafka sends is what the sandbox stored of
it, byte for byte but for the base offset. `golden.json` says what is in them. The files are kept, so that a change of
ours, or of theirs, shows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
START = 1_700_000_000_000
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

Row = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]

ROWS: list[Row] = [
    (START, b"k", b"v", []),
    (START + 5, None, b"no key", []),
    (START + 3, b"", b"", []),
    (START + 70_000, b"tombstone", None, []),
    (START - 9, "größe".encode(), b"\x00\xff" * 50, []),
    (START, b"k", b"repeated " * 200, []),
]
HEADED: list[Row] = [
    (START, b"k", b"v", [("h", b"1"), ("h", b"2"), ("", b""), ("größe", b"\xff")]),
    (START + 1, b"k2", b"v2", []),
]


def kafka_python(magic: int, codec: str, rows: list[Row]) -> bytes:
    from kafka.record.default_records import DefaultRecordBatchBuilder
    from kafka.record.legacy_records import LegacyRecordBatchBuilder

    if magic == 2:
        builder = DefaultRecordBatchBuilder(
            magic=2, compression_type=CODECS[codec], is_transactional=False, producer_id=-1, producer_epoch=-1,
            base_sequence=-1, batch_size=1 << 20,
        )  # fmt: skip
        for n, (timestamp, key, value, headers) in enumerate(rows):
            assert builder.append(n, timestamp=timestamp, key=key, value=value, headers=headers)
        return bytes(builder.build())
    legacy = LegacyRecordBatchBuilder(magic=magic, compression_type=CODECS[codec], batch_size=1 << 20)
    for n, (timestamp, key, value, _) in enumerate(rows):
        assert legacy.append(n, timestamp=timestamp, key=key, value=value)
    return bytes(legacy.build())


def aiokafka(codec: str, rows: list[Row]) -> bytes:
    from aiokafka.record.default_records import DefaultRecordBatchBuilder

    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=CODECS[codec], is_transactional=0, producer_id=-1, producer_epoch=-1,
        base_sequence=-1, batch_size=1 << 20,
    )  # fmt: skip
    for n, (timestamp, key, value, headers) in enumerate(rows):
        assert builder.append(n, timestamp=timestamp, key=key, value=value, headers=headers) is not None
    return bytes(builder.build())


def librdkafka(codec: str, rows: list[Row]) -> bytes:
    from confluent_kafka import Producer

    from kcli.proto.messages.fetch import FetchPartition, FetchRequest, FetchTopic
    from kcli.sandbox.thread import SandboxThread

    with SandboxThread(topics={"t": 1}) as sandbox:
        producer = Producer({"bootstrap.servers": sandbox.bootstrap, "compression.type": codec, "linger.ms": 500})
        for timestamp, key, value, headers in rows:
            producer.produce("t", value, key, timestamp=timestamp, headers=headers)
        assert producer.flush(20) == 0
        request = FetchRequest(
            max_bytes=1 << 20,
            topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=0, partition_max_bytes=1 << 20)])],
        )
        return _ask(sandbox.bootstrap, request)


def _ask(bootstrap: str, request: Any) -> bytes:
    import asyncio

    from kcli.client import Client
    from kcli.settings import ClientSettings, parse_bootstrap

    async def ask() -> bytes:
        async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
            answer = await (await client.cluster.anyone()).ask(request, max_version=12)
            return bytes(answer.responses[0].partitions[0].records or b"")

    return asyncio.run(ask())


def shown(row: Row) -> list[Any]:
    def text(data: bytes | None) -> str | None:
        return None if data is None else data.hex()

    timestamp, key, value, headers = row
    return [timestamp, text(key), text(value), [[name, text(content)] for name, content in headers]]


def main() -> None:
    table: dict[str, Any] = {}

    def keep(name: str, data: bytes, rows: list[Row]) -> None:
        (HERE / f"{name}.bin").write_bytes(data)
        table[name] = [shown(row) for row in rows]

    for codec in CODECS:
        keep(f"kafka-python-v2-{codec}", kafka_python(2, codec, ROWS), ROWS)
        keep(f"aiokafka-v2-{codec}", aiokafka(codec, ROWS), ROWS)
        keep(f"librdkafka-v2-{codec}", librdkafka(codec, ROWS), ROWS)
    keep("kafka-python-v2-headers", kafka_python(2, "none", HEADED), HEADED)
    keep("aiokafka-v2-headers", aiokafka("none", HEADED), HEADED)
    keep("librdkafka-v2-headers", librdkafka("none", HEADED), HEADED)
    plain: list[Row] = [row for row in ROWS if not row[3]]
    for magic in (0, 1):
        for codec in ("none", "gzip", "snappy", *(["lz4"] if magic else [])):  # v0's lz4 has a wrong checksum (KIP-57)
            rows = [(-1 if magic == 0 else t, k, v, h) for t, k, v, h in plain]
            keep(f"kafka-python-v{magic}-{codec}", kafka_python(magic, codec, plain), rows)
    (HERE / "golden.json").write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
