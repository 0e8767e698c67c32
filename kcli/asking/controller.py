"""Requests to the controller, which may move in the meantime."""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_once
from kcli.asking.fan_out import PATIENCE, pauses
from kcli.backoff import retry
from kcli.errors import BrokerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from kcli.model import Cluster
    from kcli.proto.schema import Request

    R = TypeVar("R")


async def ask_controller(
    cluster: Cluster, request: Request[R], error_codes: Callable[[R], list[int]], *, patience: float = PATIENCE
) -> R:
    """Send a request to the controller and return the response.

    After NOT_CONTROLLER or a lost connection, the new controller is asked, for up to `patience` seconds. `error_codes`
    returns the error codes of a response. Raises KcliError, and UnknownOutcome if a request was sent and not answered,
    which must not be sent again.
    """
    asked = False
    refusals: list[R] = []

    async def once() -> R:
        nonlocal asked
        if asked:
            await cluster.refresh([])
        asked = True
        answer = await ask_once(await cluster.controller(), request)
        if codes.NOT_CONTROLLER.number in error_codes(answer):
            refusals.append(answer)
            raise BrokerError(codes.NOT_CONTROLLER)
        return answer

    try:
        return await retry(once, pauses(), asyncio.get_running_loop().time() + patience)
    except BrokerError as error:
        if error.code is codes.NOT_CONTROLLER and refusals:
            return refusals[-1]  # the rows contain the error
        raise
