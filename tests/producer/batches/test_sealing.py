"""Batches that threads seal: two at once, and none that was not begun when the producer ends."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from kcli.errors import KcliError
from kcli.producer.engine.engine import SEALERS, Sealers
from kcli.settings import ProducerSettings


class Slow:
    """A batch whose compression lasts until `go` is set."""

    def __init__(self, go: threading.Event) -> None:
        self.sealing = False
        self.begun = threading.Event()
        self._go = go

    def close(self, settings: ProducerSettings) -> None:
        self.begun.set()
        assert self._go.wait(10)


async def test_what_no_thread_has_begun_stays_open_at_the_end() -> None:
    go, settled = threading.Event(), dict[Any, KcliError | None]()
    sealers = Sealers(ProducerSettings(compression="lz4"), settled.__setitem__)
    batches: list[Any] = [Slow(go) for _ in range(SEALERS + 1)]
    for batch in batches:
        sealers.seal(batch)
    assert all(batch.sealing for batch in batches)
    for batch in batches[:SEALERS]:
        await asyncio.to_thread(batch.begun.wait, 10)
    running = [each for each in threading.enumerate() if each.name == "kcli-seal"]
    assert len(running) == SEALERS
    sealers.stop()
    go.set()
    for each in running:
        await asyncio.to_thread(each.join, 10)
        assert not each.is_alive()
    await asyncio.sleep(0)
    assert [batch.begun.is_set() for batch in batches] == [True] * SEALERS + [False]
    assert [batch.sealing for batch in batches] == [False] * (SEALERS + 1)
    assert settled == dict.fromkeys(batches)


async def test_an_error_of_a_codec_is_told_in_a_sentence() -> None:
    class Broken:
        sealing = False

        def close(self, settings: ProducerSettings) -> None:
            raise RuntimeError("no memory")

    told: asyncio.Future[KcliError | None] = asyncio.get_running_loop().create_future()
    sealers = Sealers(ProducerSettings(compression="lz4"), lambda batch, problem: told.set_result(problem))
    batch: Any = Broken()
    sealers.seal(batch)
    problem = await told
    sealers.stop()
    assert str(problem) == "a batch could not be sealed: RuntimeError('no memory')"
