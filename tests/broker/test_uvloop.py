"""The library on another event loop: uvloop, whose transports are no `asyncio.Transport`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kcli.client import Client
from kcli.sandbox.sandbox import Sandbox
from kcli.security import Security, Tls
from kcli.settings import ClientSettings, GroupSettings, ProducerSettings, parse_bootstrap
from tests.certificates import Authority

from .securing import served

uvloop = pytest.importorskip("uvloop", reason="uvloop has no wheel for this system")

LOOPS: list[Callable[[Coroutine[Any, Any, None]], None]] = [asyncio.run, uvloop.run]


async def there_and_back(values: list[bytes], folder: Path, **producing: Any) -> None:
    authority = Authority(folder)
    tls: dict[str, Any] = {"tls": served(authority.issue("server"))} if producing.pop("tls", False) else {}
    security = Security(tls=Tls(ca=str(authority.path))) if tls else None
    async with (
        Sandbox(topics={"t": 2}, **tls) as sandbox,
        Client(ClientSettings(bootstrap=parse_bootstrap(sandbox.bootstrap), security=security)) as client,
    ):
        async with client.producer(ProducerSettings(**producing)) as producer:
            sent = [await producer.send("t", value, partition=n % 2) for n, value in enumerate(values)]
            await producer.flush()
            assert [one.result().offset for one in sent] == [n // 2 for n in range(len(values))]
        group = GroupSettings(group="g")
        async with client.consumer(group=group) as consumer:
            await consumer.subscribe(["t"])
            read: list[bytes | None] = []
            async with asyncio.timeout(20):
                while len(read) < len(values):
                    batches = [batch for fetched in await consumer.poll() for batch in fetched.batches]
                    read += [record.value for batch in batches for record in batch]
            await consumer.commit()
        assert sorted(value or b"" for value in read) == sorted(values)


@pytest.mark.parametrize("run", LOOPS, ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("how", [{}, {"linger": 0.0, "batch_records": 1}, {"tls": True}], ids=["large", "small", "tls"])
def test_records_are_produced_and_read_by_a_group(run: Any, how: dict[str, Any], tmp_path: Path) -> None:
    run(there_and_back([b"%d" % n for n in range(200)] + [bytes(300_000)] * 2, tmp_path, **how))
