"""The logins of a client that was logged in before: a failure may be over in a moment.

The pauses grow from 1 to 60 s, and one connection at a time tries for the whole client, so that accounts are not
locked. The first login of a client is not covered: it fails at once.
"""

from __future__ import annotations

import asyncio

from kcli.backoff import Backoff
from kcli.errors import AuthError, LoginFailed
from kcli.text.log import Log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    T = TypeVar("T")
    Failed = Callable[[str, AuthError | None], None]

LOG = Log("broker")
FIRST, LONGEST = 1.0, 60.0  # seconds between two logins that fail


class Unsafe(AuthError):
    """The login would show the credentials to others. No later try changes that."""


class Logins:
    """`on_failure` is called with a sentence after each failure; after `patience` seconds of failures also with the
    error that ends consumers."""

    def __init__(self) -> None:
        self.patience = 300.0
        self.on_failure: Failed | None = None
        self._known = False  # whether the client was ever logged in
        self._pauses = Backoff(FIRST, LONGEST)
        self._problem = ""  # of the last login; "" where it succeeded
        self._since = 0.0
        self._not_before = 0.0
        self._trying = False

    def begin(self) -> bool:
        """Before a connection that will log in: True where it is the one that tries again, and `end` has to be called.
        Raises LoginFailed while that is another one, or the pause is not over."""
        if not self._problem:
            return False
        if self._trying or asyncio.get_running_loop().time() < self._not_before:
            raise LoginFailed(self._problem)
        self._trying = True
        return True

    def end(self) -> None:
        """The connection that tried again has succeeded or failed."""
        self._trying = False

    async def attempt(self, login: Callable[[], Awaitable[T]]) -> T:
        """The result of a login. Raises LoginFailed for an AuthError that may be over in a moment."""
        try:
            done = await login()
        except Unsafe:
            raise
        except AuthError as problem:
            if not self._known:
                raise
            raise self._failed(problem) from problem
        if self._problem:
            LOG.warning("the login succeeded again")
        self._known, self._problem = True, ""
        self._pauses.reset()
        return done

    def _failed(self, problem: AuthError) -> LoginFailed:
        now = asyncio.get_running_loop().time()
        if self._problem and now < self._not_before:
            return LoginFailed(self._problem)  # it began before the failure that the pause is for
        if not self._problem:
            self._since = now
        ends = self._since + self.patience
        final = AuthError(f"{problem}; the logins have failed for {now - self._since:.0f} s") if now >= ends else None
        pause = self._pauses.next()
        if final is None:
            pause = min(pause, max(FIRST, ends - now))
        self._not_before = now + pause
        self._problem = f"{problem}; the login is tried again in {pause:.1f} s"
        LOG.warning("%s", self._problem)
        if self.on_failure is not None:
            self.on_failure(self._problem, final)
        return LoginFailed(self._problem)
