"""A promise does what a future of asyncio does: each script is played with both, and what it sees is compared."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import weakref
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

import pytest

from kcli.errors import KcliError
from kcli.model import TopicPartition
from kcli.tasks import shielded
from tests.proto.record_cores import CORES

AT = TopicPartition("t", 3)
BROKEN = KcliError("broken")


class Played:
    """What a script has: the future or promise `it`, and how it ends."""

    def __init__(self, it: Any, keep: Callable[[], object], fail: Callable[[KcliError], object]) -> None:
        self.it, self.keep, self.fail = it, keep, fail
        self.seen: list[object] = []

    def see(self, done: Any) -> None:
        """A callback: how it ended, and that it got the promise it was added to."""
        if done.cancelled():
            self.seen.append("cancelled")
        else:
            self.seen.append((done.exception() or str(done.result()), done is self.it))

    async def ends(self, work: Awaitable[Any]) -> None:
        """What the work ends with."""
        try:
            self.seen.append(str(await work))
        except (KcliError, TimeoutError, asyncio.CancelledError) as problem:
            self.seen.append((type(problem), problem.args))


def a_future(_: ModuleType) -> Played:
    it: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    keep, fail = it.set_result, it.set_exception
    stored = "RecordMetadata(t[3]@17, 1000)"
    return Played(it, lambda: it.done() or keep(stored), lambda error: it.done() or fail(error))


def a_promise(core: ModuleType) -> Played:
    outcome = core.SharedOutcome(AT, asyncio.get_running_loop())
    return Played(core.Promise(outcome, 7, 1000), lambda: outcome.keep(10, -1), outcome.fail)


async def awaited(play: Played) -> None:
    first, second = (asyncio.create_task(play.ends(play.it)) for _ in range(2))
    await asyncio.sleep(0)
    play.keep()
    await asyncio.gather(first, second)
    await play.ends(play.it)


async def awaited_in_vain(play: Played) -> None:
    task = asyncio.create_task(play.ends(play.it))
    await asyncio.sleep(0)
    play.fail(BROKEN)
    await task
    await play.ends(play.it)
    play.seen.append(play.it.exception() is BROKEN)


async def too_early(play: Played) -> None:
    for ask in (play.it.result, play.it.exception):
        with pytest.raises(asyncio.InvalidStateError):
            ask()
    play.seen += [play.it.done(), play.it.cancelled(), asyncio.isfuture(play.it)]
    play.seen.append(play.it.get_loop() is asyncio.get_running_loop())
    play.keep()
    play.seen += [play.it.done(), play.it.cancelled(), play.it.exception(), play.it.result() is play.it.result()]


async def told(play: Played) -> None:
    word = contextvars.ContextVar("word", default="none")
    say = lambda _: play.seen.append(word.get())  # noqa: E731
    word.set("first")
    play.it.add_done_callback(play.see)
    play.it.add_done_callback(say)
    mine = contextvars.copy_context()
    mine.run(word.set, "mine")
    play.it.add_done_callback(say, context=mine)
    for _ in range(2):
        play.it.add_done_callback(play.seen.append)
    play.seen += [play.it.remove_done_callback(play.seen.append), play.it.remove_done_callback(print)]
    word.set("second")
    play.keep()
    play.seen.append("not at once")
    await asyncio.sleep(0)
    play.it.add_done_callback(play.see)
    play.seen.append("nor when it is done")
    await asyncio.sleep(0)


async def told_again(play: Played) -> None:
    play.it.add_done_callback(print)
    play.it.remove_done_callback(print)
    play.it.add_done_callback(play.see)
    play.fail(BROKEN)
    await asyncio.sleep(0)


async def cancelled(play: Played) -> None:
    play.it.add_done_callback(play.see)
    task = asyncio.create_task(play.ends(play.it))
    await asyncio.sleep(0)
    play.seen += [play.it.cancel("enough"), play.it.cancel(), play.it.done(), play.it.cancelled()]
    await task
    play.keep()
    await asyncio.sleep(0)
    await play.ends(play.it)
    for ask in (play.it.result, play.it.exception):
        with pytest.raises(asyncio.CancelledError):
            ask()


async def cancelled_too_late(play: Played) -> None:
    play.keep()
    play.seen += [play.it.cancel(), play.it.cancelled()]


async def its_task_cancelled(play: Played) -> None:
    task = asyncio.create_task(play.ends(play.it))
    await asyncio.sleep(0)
    task.cancel("no more")
    await task
    play.seen.append(play.it.cancelled())


async def gathered(play: Played) -> None:
    task = asyncio.ensure_future(asyncio.gather(play.it, play.it, asyncio.sleep(0, "s"), return_exceptions=True))
    await asyncio.sleep(0)
    play.fail(BROKEN)
    play.seen.append(await task)


async def gathered_and_one_cancelled(play: Played) -> None:
    task = asyncio.ensure_future(asyncio.gather(play.it, return_exceptions=True))
    await asyncio.sleep(0)
    play.it.cancel("enough")
    play.seen += [repr(one) for one in await task]
    await play.ends(asyncio.gather(play.it))


async def a_gathering_cancelled(play: Played) -> None:
    task = asyncio.ensure_future(asyncio.gather(play.it))
    await asyncio.sleep(0)
    task.cancel()
    await play.ends(task)
    play.seen.append(play.it.cancelled())


async def waited_for(play: Played) -> None:
    done, pending = await asyncio.wait([play.it], timeout=0)
    play.seen += [len(done), pending == {play.it}]
    task = asyncio.create_task(asyncio.wait([play.it], return_when=asyncio.FIRST_EXCEPTION))
    await asyncio.sleep(0)
    play.fail(BROKEN)
    done, pending = await task
    play.seen += [done == {play.it}, len(pending)]
    for each in asyncio.as_completed([play.it]):
        await play.ends(each)


async def too_late(play: Played) -> None:
    await play.ends(asyncio.wait_for(play.it, 0.001))
    play.seen.append(play.it.cancelled())


async def shielded_by_us(play: Played) -> None:
    await play.ends(asyncio.wait_for(shielded(play.it), 0.001))
    play.seen.append(play.it.cancelled())
    play.keep()
    await play.ends(shielded(play.it))
    await play.ends(asyncio.wait_for(play.it, 1))


SCRIPTS = (
    awaited, awaited_in_vain, too_early, told, told_again, cancelled, cancelled_too_late, its_task_cancelled, gathered,
    gathered_and_one_cancelled, a_gathering_cancelled, waited_for, too_late, shielded_by_us,
)  # fmt: skip


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
async def test_A1_03_a_promise_does_what_a_future_does(
    core: ModuleType, script: Callable[[Played], Awaitable[None]]
) -> None:
    seen = []
    for made in (a_future, a_promise):
        play = made(core)
        await script(play)
        seen.append(play.seen)
    assert seen[1] == seen[0]
    assert seen[0]


@pytest.mark.parametrize("core", CORES)
async def test_A1_03_a_promise_has_its_own_offset_and_time_through_all_splits(core: ModuleType) -> None:
    loop = asyncio.get_running_loop()
    whole, first, second = (core.SharedOutcome(AT, loop) for _ in range(3))
    promises = [core.Promise(whole, index, 1000 + index) for index in range(6)]
    told: list[Any] = []
    for promise in promises[1::2]:
        promise.add_done_callback(told.append)
    promises[3].cancel()
    whole.split(2, first, second)
    ends = [core.SharedOutcome(AT, loop) for _ in range(2)]
    second.split(3, *ends)
    first.keep(100, -1)
    assert [one.done() for one in promises] == [True, True, False, True, False, False]
    ends[1].fail(BROKEN, {0: KcliError("its own")})
    ends[0].keep(-1, 5)
    await asyncio.sleep(0)
    assert told == [promises[3], promises[1], promises[5]]
    assert [(one.result().offset, one.result().timestamp) for one in (*promises[:3], promises[4])] == [
        (100, 1000), (101, 1001), (-1, 5), (-1, 5),
    ]  # fmt: skip
    assert str(promises[5].exception()) == "its own"
    assert [repr(one) for one in promises[2:4]] == ["<Promise RecordMetadata(t[3]@-1, 5)>", "<Promise cancelled>"]


@pytest.mark.parametrize("core", CORES)
async def test_A5_03_a_promise_that_is_dropped_is_gone_and_keeps_nothing(core: ModuleType) -> None:
    outcome = core.SharedOutcome(AT, asyncio.get_running_loop())
    dropped = weakref.ref(core.Promise(outcome, 0, 0))
    assert dropped() is None
    watched = [core.Promise(outcome, 0, 0)]
    watched[0].add_done_callback(watched.append)  # a cycle
    outcome.fail(BROKEN)
    await asyncio.sleep(0)
    gone = weakref.ref(watched[0])
    watched.clear()
    gc.collect()
    assert gone() is None
