"""Re-authentication (KIP-368, B18): before its session ends a connection authenticates again, on the same connection.

Nothing else is written meanwhile, and nothing may be in flight: new requests are held, responses in flight are awaited,
then the handshake is sent, then the held requests. Nothing is lost; callers only see a short wait. It is started by the
first request after it is due: an idle connection does nothing, and after the end of its session a broker still accepts
the handshake, and nothing else.
"""

from __future__ import annotations

import asyncio
from os import urandom

from kcli.errors import Closed, ConnectError, KcliError
from kcli.tasks import retrieve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kcli.broker.security.secured import SecuredConnection

SOONEST = 1.0  # seconds: brokers take the next handshake for a mistake before
MARGIN = 1.0  # seconds before the end: what was written before it has to get through first, answered or not (acks=0)
EARLIEST, SPREAD = 0.85, 0.10  # of the session's life, so that connections do not do it all at once


class Renewal:
    """The renewal of one connection. `authenticate` does it and returns the end of the next session, on the loop's
    clock; this one lasts `until`."""

    def __init__(
        self, connection: SecuredConnection, authenticate: Callable[[], Awaitable[float]], until: float
    ) -> None:
        self._connection = connection
        self._authenticate = authenticate
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self.count = 0
        self.at = 0.0
        self._schedule(until)

    def _schedule(self, until: float) -> None:
        now = self._loop.time()
        part = EARLIEST + SPREAD * urandom(1)[0] / 255
        self.at = now + max(SOONEST, min((until - now) * part, until - now - MARGIN))

    def begin(self) -> None:
        """It is due: hold what comes, and do it."""
        if self._task is None:
            self._connection.hold()
            self._task = self._loop.create_task(self._run(), name=f"re-authenticate {self._connection.name}")
            self._task.add_done_callback(retrieve)

    async def _run(self) -> None:
        try:
            await self._connection.drained()
            self._schedule(await self._authenticate())
            self.count += 1
        except Closed:
            return  # the client was closed meanwhile
        except Exception as problem:  # noqa: BLE001 whatever it is, this connection is over, and the next one will tell
            text = str(problem) if isinstance(problem, KcliError) else f"re-authentication failed: {problem!r}"
            self._connection.close(ConnectError(text))
        finally:
            self._task = None
            self._connection.release()
