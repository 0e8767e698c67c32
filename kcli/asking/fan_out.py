"""Split and gather (C17): a question about many things is asked once per broker that knows, at the same time.

An answer that says "try again" is asked again where the thing lives by then; what still fails stands as an error
next to the good answers. Requests grow with brokers, never with things.
"""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff
from kcli.errors import AuthError, BrokerError, ConnectError, DeadlineExceeded, KcliError, UnknownOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import TypeVar

    from kcli.model import Broker, Cluster
    from kcli.proto.schema import Request

    R = TypeVar("R")
    K = TypeVar("K")
    A = TypeVar("A")
    Places = dict[int, list[K]]

PATIENCE = 12.0
"""Seconds for which answers that say "try again" are asked again: a fail-over takes Kafka nine, as configured by
default."""

FIRST_PAUSE, LAST_PAUSE = 0.05, 1.0


async def gather(
    things: Iterable[K],
    locate: Callable[[list[K]], Awaitable[tuple[list[tuple[Broker, list[K]]], dict[K, KcliError]]]],
    ask: Callable[[Broker, list[K]], Awaitable[dict[K, A | KcliError]]],
    forget: Callable[[K], None],
    *,
    patience: float = PATIENCE,
    most: int = 1_000_000,
) -> dict[K, A | KcliError]:
    """The answer or the error of every thing, in the order asked.

    `locate` says which broker to ask about which things and which things have no place; `ask` asks one broker;
    `forget` is called for a thing whose place turned out wrong. `patience` is in seconds; `most` things a request.
    """
    order = list(dict.fromkeys(things))
    done: dict[K, A | KcliError] = {}
    loop = asyncio.get_running_loop()
    give_up = loop.time() + patience
    pauses, left = Backoff(FIRST_PAUSE, LAST_PAUSE), order
    while left:
        begun = loop.time()
        places, lost = await locate(left)
        answers: dict[K, A | KcliError] = dict(lost)
        questions = [(broker, part) for broker, whole in places for part in pieces(whole, most)]
        for some in await asyncio.gather(*(_ask_one(ask, broker, part) for broker, part in questions)):
            answers.update(some)
        done.update(answers)
        left = [thing for thing in left if may_try_again(answers.get(thing))]
        took = loop.time() - begun  # dialling into a void takes long, and would once more
        pause = pauses.next()
        if not left or loop.time() + pause + took > give_up:
            break
        for thing in left:
            forget(thing)
        await asyncio.sleep(pause)
    return {thing: done.get(thing, _unanswered()) for thing in order}


async def _ask_one(
    ask: Callable[[Broker, list[K]], Awaitable[dict[K, A | KcliError]]], broker: Broker, part: list[K]
) -> dict[K, A | KcliError]:
    try:
        return await ask(broker, part)
    except KcliError as error:
        return dict.fromkeys(part, error)


def pieces(whole: list[K], most: int) -> list[list[K]]:
    """`whole` in parts of at most `most`."""
    return [whole[at : at + most] for at in range(0, len(whole), most)]


def may_try_again(answer: object) -> bool:
    """Does this error pass by itself? A timeout does not: its time was the caller's."""
    if isinstance(answer, BrokerError):
        return answer.code.retriable
    return isinstance(answer, ConnectError) and not isinstance(answer, AuthError | DeadlineExceeded)


def good(answers: dict[K, A | KcliError]) -> dict[K, A]:
    """Only what was answered."""
    return {thing: answer for thing, answer in answers.items() if not isinstance(answer, KcliError)}


def bad(answers: dict[K, A | KcliError]) -> dict[K, KcliError]:
    """Only what failed."""
    return {thing: answer for thing, answer in answers.items() if isinstance(answer, KcliError)}


async def ask_every(
    cluster: Cluster, node_ids: Iterable[int], ask: Callable[[Broker], Awaitable[A]]
) -> tuple[dict[int, A], dict[int, KcliError]]:
    """The answers of these brokers, by node id, and the errors of those that did not give one."""

    async def one(node_id: int) -> A | KcliError:
        try:
            return await ask(await cluster.node(node_id))
        except KcliError as error:
            return error

    asked = list(node_ids)
    both = dict(zip(asked, await asyncio.gather(*(one(node_id) for node_id in asked)), strict=True))
    return good(both), bad(both)


async def ask_anyone(cluster: Cluster, request: Request[R]) -> R:
    """What every broker knows, from the first that answers: a dead broker must not end a question that any other
    can answer. Only for requests that change nothing."""
    for _ in range(len(await cluster.nodes())):
        broker = await cluster.anyone()
        try:
            return await broker.ask(request)
        except AuthError:
            raise
        except ConnectError:
            continue
    return await (await cluster.anyone()).ask(request)


async def ask_once(broker: Broker, request: Request[R], timeout: float | None = None) -> R:
    """Ask for a change. Raises UnknownOutcome where it was sent and no answer came: it may have been done, so nobody
    but who looks may ask again."""
    try:
        return await broker.ask(request, timeout=timeout)
    except (ConnectError, DeadlineExceeded) as error:
        if not error.sent or getattr(request, "validate_only", False):
            raise
        raise UnknownOutcome(f"it is unknown whether it was done, look before you do it again: {error}") from error


def _unanswered() -> KcliError:
    return KcliError("the broker's answer leaves this out")
