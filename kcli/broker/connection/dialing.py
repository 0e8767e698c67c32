"""From an address to a TCP connection: every address of the name is tried, within one time limit (B22, B23)."""

from __future__ import annotations

import asyncio

from kcli.broker.connection.resolve import not_a_port, open_socket, resolve
from kcli.errors import ConnectError, Unreached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from kcli.broker.connection.connection import Connection
    from kcli.model import Address


async def dial(there: Address, name: str, end: float, make: Callable[[], Connection]) -> Connection:
    """Connect to the first of the host's addresses that answers, before `end` in loop time. `name` is how people know
    the broker. Raises Unreached with each address's reason."""
    loop = asyncio.get_running_loop()
    host, port = there
    if wrong := not_a_port(port):
        raise ConnectError(f"{name}: {wrong}")
    try:
        async with asyncio.timeout_at(end):
            addresses = await resolve(host, port)
    except TimeoutError:
        raise Unreached(f"{name}: the host name {host} could not be resolved in time") from None
    except OSError as problem:
        raise Unreached(f"{name}: the host name {host} does not resolve ({problem.strerror})") from problem
    reasons: dict[str, str] = {}
    for n, (family, where) in enumerate(addresses):
        share = (end - loop.time()) / (len(addresses) - n)  # a dead address leaves time for the next (B23)
        try:
            async with asyncio.timeout(share):
                return await _reach(family, where, make)
        except OSError as problem:
            reasons[str(where[0])] = _reason(problem)
    if len(set(reasons.values())) == 1:
        raise Unreached(f"{name}: {next(iter(reasons.values()))}")
    raise Unreached(f"{name}: {'; '.join(f'{where}: {why}' for where, why in reasons.items())}")


async def _reach(family: int, where: tuple[Any, ...], make: Callable[[], Connection]) -> Connection:
    loop = asyncio.get_running_loop()
    sock = open_socket(family)
    try:
        await loop.sock_connect(sock, where)
        _, connection = await loop.create_connection(make, sock=sock)
        return connection
    except BaseException:
        sock.close()
        raise


def _reason(problem: OSError) -> str:
    if isinstance(problem, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    if isinstance(problem, TimeoutError):
        return "no answer: the address may be wrong or behind a firewall"
    from os import strerror

    return strerror(problem.errno) if problem.errno else str(problem)
