"""What is kept and for how long, one request for all, and a registry that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from kcli.errors import Closed, ConnectError
from kcli.registry import cache as module
from kcli.registry.cache import Cache
from kcli.registry.errors import Forbidden, NotFound
from tests.producer.world import now, play


class Source:
    """Answers `answer`, an error too, after `seconds`; `asked` are the keys and when."""

    def __init__(self, answer: object = "schema", seconds: float = 0.0) -> None:
        self.answer = answer
        self.seconds = seconds
        self.asked: list[tuple[object, float]] = []

    def ask(self, key: object) -> Callable[[], Awaitable[object]]:
        async def ask() -> object:
            self.asked.append((key, now()))
            await asyncio.sleep(self.seconds)
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return ask

    async def get(self, cache: Cache, key: object, **given: float) -> object:
        return await cache.get(key, self.ask(key), **given)


def test_what_never_changes_is_asked_once_and_the_rest_again() -> None:
    async def main() -> None:
        cache, source = Cache(), Source()
        for _ in range(3):
            assert await source.get(cache, 7) == "schema"
            assert await source.get(cache, "latest", keep=60.0) == "schema"
            await asyncio.sleep(50)
        assert [key for key, _ in source.asked] == [7, "latest", "latest"]

    play(main())


def test_all_who_ask_at_once_share_one_request() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(seconds=1)
        found = await asyncio.gather(*(source.get(cache, 7) for _ in range(100)))
        assert found == ["schema"] * 100
        assert len(source.asked) == 1

    play(main())


def test_one_who_gives_up_does_not_end_it_for_the_others() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(seconds=1)
        first, second = (asyncio.create_task(source.get(cache, 7)) for _ in range(2))
        await asyncio.sleep(0.1)
        first.cancel()
        assert await second == "schema"
        assert len(source.asked) == 1

    play(main())


def test_what_is_not_there_is_not_asked_for_again_within_a_minute() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(NotFound("no", 404, 40403))
        for _ in range(5):
            with pytest.raises(NotFound):
                await source.get(cache, 7)
            await asyncio.sleep(11.5)
        assert len(source.asked) == 1
        await asyncio.sleep(4)
        with pytest.raises(NotFound):
            await source.get(cache, 7)
        assert len(source.asked) == 2
        source.answer = "schema"
        assert await source.get(cache, 8) == "schema"  # the others are not concerned

    play(main())


def test_a_registry_that_fails_costs_one_time_out_whatever_is_asked() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(ConnectError("down"), seconds=5)
        begun = now()
        for key in range(10_000):
            with pytest.raises(ConnectError, match="down"):
                await source.get(cache, key)
        assert len(source.asked) == 1
        assert now() - begun < 5.1

    play(main())


def test_a_registry_that_fails_is_asked_again_later_and_later() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(ConnectError("down"))
        until = now() + 400
        while now() < until:
            with pytest.raises(ConnectError):
                await source.get(cache, 7)
            await asyncio.sleep(0.5)
        pauses = [later - earlier for (_, earlier), (_, later) in pairwise(source.asked)]
        assert 4 <= pauses[0] <= 6.5
        assert all(later > earlier for earlier, later in pairwise(pauses[:4]))
        assert max(pauses) <= 73
        source.answer = "schema"
        await asyncio.sleep(80)
        assert await source.get(cache, 7) == "schema"
        source.answer = ConnectError("down")
        count = len(source.asked)
        for key in (8, 9):
            with pytest.raises(ConnectError):
                await source.get(cache, key)
        await asyncio.sleep(6.5)  # after it was well the first pause is a short one
        with pytest.raises(ConnectError):
            await source.get(cache, 8)
        assert len(source.asked) == count + 2

    play(main())


def test_what_is_forbidden_does_not_hide_the_rest() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(Forbidden("not for you"))
        for _ in range(3):
            with pytest.raises(Forbidden):
                await source.get(cache, 7)
        source.answer = "schema"
        assert await source.get(cache, 8) == "schema"
        assert len(source.asked) == 2

    play(main())


def test_what_is_kept_is_served_while_the_registry_is_away() -> None:
    async def main() -> None:
        cache, source = Cache(), Source()
        assert await source.get(cache, 7) == "schema"
        source.answer = ConnectError("down")
        with pytest.raises(ConnectError):
            await source.get(cache, 8)
        assert await source.get(cache, 7) == "schema"

    play(main())


def test_a_topic_of_nonsense_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 10)

    async def main() -> None:
        cache, source = Cache(), Source()
        for key in range(100):
            await source.get(cache, key)
        assert len(cache._kept) == 10
        await source.get(cache, 99)
        assert len(source.asked) == 100

    play(main())


def test_closing_ends_what_is_under_way() -> None:
    async def main() -> None:
        cache, source = Cache(), Source(seconds=100)
        waiting = asyncio.create_task(source.get(cache, 7))
        await asyncio.sleep(0.1)
        await cache.close()
        with pytest.raises(Closed):
            await waiting

    play(main())
