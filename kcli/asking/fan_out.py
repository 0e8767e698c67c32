"""Split and gather: a request about many items is sent once to each responsible broker, concurrently.

Retriable errors are retried at the item's current location; an item that still fails has an error beside the results of
the others. The number of requests grows with brokers, not with items.
"""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff, repeat
from kcli.errors import BrokerError, KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import Protocol, TypeVar

    from kcli.model import Broker, Cluster

    R = TypeVar("R")
    K = TypeVar("K")
    A = TypeVar("A")

    class Places(Protocol[K]):
        """Where items are located: `Leaders`, `Coordinators` and so on."""

        async def locate(self, things: list[K], /) -> tuple[list[tuple[Broker, list[K]]], dict[K, KcliError]]:
            """Return which broker to ask about which items, and errors for items without a location."""

        def forget(self, thing: K, /) -> None:
            """Discard the cached location of an item."""


PATIENCE = 12.0
"""Seconds to retry after retriable errors: with default settings, a Kafka failover takes nine."""

FIRST_PAUSE, LAST_PAUSE = 0.05, 1.0


async def gather(
    things: Iterable[K],
    where: Places[K],
    ask: Callable[[Broker, list[K]], Awaitable[dict[K, A | KcliError]]],
    *,
    patience: float = PATIENCE,
    most: int = 1_000_000,
) -> dict[K, A | KcliError]:
    """Return the result or the error of each item, in the order given. `ask` asks one broker about at most `most`
    items; `patience` is in seconds."""
    order = left = list(dict.fromkeys(things))
    done: dict[K, A | KcliError] = {}

    async def ask_left() -> bool:
        nonlocal left
        places, lost = await where.locate(left)
        answers: dict[K, A | KcliError] = dict(lost)
        questions = [(broker, part) for broker, whole in places for part in pieces(whole, most)]
        for some in await asyncio.gather(*(_ask_one(ask, broker, part) for broker, part in questions)):
            answers.update(some)
        done.update(answers)
        failed = {thing: error for thing in left if isinstance(error := answers.get(thing), KcliError)}
        left = [thing for thing, error in failed.items() if error.retriable]
        for thing in left:
            if proves_wrong(failed[thing]):
                where.forget(thing)
        return not left

    if order:
        await repeat(ask_left, pauses(), asyncio.get_running_loop().time() + patience)
    return {thing: done[thing] if thing in done else _unanswered() for thing in order}


async def brokers_of(
    cluster: Cluster, by_node: dict[int, list[K]], lost: dict[K, KcliError]
) -> list[tuple[Broker, list[K]]]:
    """Return the brokers of these node ids with their items. Items of unknown nodes are added to `lost`, with the
    error."""
    by_broker: list[tuple[Broker, list[K]]] = []
    for node_id, items in by_node.items():
        try:
            by_broker.append((await cluster.node(node_id), items))
        except KcliError as error:
            lost.update(dict.fromkeys(items, error))
    return by_broker


def pauses() -> Backoff:
    """Return the pauses for requests that a person waits for."""
    return Backoff(FIRST_PAUSE, LAST_PAUSE)


async def _ask_one(
    ask: Callable[[Broker, list[K]], Awaitable[dict[K, A | KcliError]]], broker: Broker, part: list[K]
) -> dict[K, A | KcliError]:
    try:
        return await ask(broker, part)
    except KcliError as error:
        return dict.fromkeys(part, error)


def pieces(whole: list[K], most: int) -> list[list[K]]:
    """Split `whole` into parts of at most `most`."""
    return [whole[at : at + most] for at in range(0, len(whole), most)]


def proves_wrong(error: KcliError) -> bool:
    """Whether an item may have moved: its connection broke, or the error code says so (`ErrorCode.forget`). A
    coordinator that is still loading its groups is asked again, as in Java's admin client."""
    return not isinstance(error, BrokerError) or bool(error.code.forget)


def good(answers: dict[K, A | KcliError]) -> dict[K, A]:
    """Return the results without errors."""
    return {thing: answer for thing, answer in answers.items() if not isinstance(answer, KcliError)}


def bad(answers: dict[K, A | KcliError]) -> dict[K, KcliError]:
    """Return only the errors."""
    return {thing: answer for thing, answer in answers.items() if isinstance(answer, KcliError)}


async def ask_every(
    cluster: Cluster, node_ids: Iterable[int], ask: Callable[[Broker], Awaitable[A]]
) -> tuple[dict[int, A], dict[int, KcliError]]:
    """Return the results of these brokers by node id, and the errors of those that failed."""

    async def ask_node(node_id: int) -> A | KcliError:
        try:
            return await ask(await cluster.node(node_id))
        except KcliError as error:
            return error

    asked = list(node_ids)
    both = dict(zip(asked, await asyncio.gather(*(ask_node(node_id) for node_id in asked)), strict=True))
    return good(both), bad(both)


def _unanswered() -> KcliError:
    return KcliError("the broker's response does not contain this")
