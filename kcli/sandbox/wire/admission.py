"""The limits of a sandbox's connections, and the notices about them."""

from __future__ import annotations

import time
from collections.abc import Callable

from kcli.sandbox.cluster.brokers import Brokers

AGAIN = 60.0  # seconds until a sentence of the same kind may be printed again


class Notices:
    """Sentences for `tell`, each kind at most once a minute."""

    def __init__(self, tell: Callable[[str], None] | None) -> None:
        self._tell = tell
        self._last: dict[str, float] = {}

    def say(self, kind: str, sentence: str) -> None:
        now = time.monotonic()
        if self._tell is not None and now - self._last.get(kind, -AGAIN) >= AGAIN:
            self._last[kind] = now
            self._tell(sentence)


class Admission:
    """All brokers together have at most `limit` connections."""

    def __init__(self, brokers: Brokers, limit: int, notices: Notices) -> None:
        self._brokers = brokers
        self._limit = limit
        self._notices = notices

    def admits(self) -> bool:
        """Whether one more may connect. When all places are taken, the connection that is open for longest and has
        asked for nothing is closed; without such a connection, the new one is refused."""
        if sum(broker.connections for broker in self._brokers) < self._limit:
            return True
        quiet = [peer for broker in self._brokers if (peer := broker.quiet_connection()) is not None]
        room = bool(quiet) or any(broker.turn_away() for broker in self._brokers)
        what = "the oldest that asked for nothing was closed" if room else "no more are let in"
        self._notices.say("connections", f"{self._limit} connections are open, as many as there may be: {what}")
        if not quiet:
            return room
        oldest = min(quiet, key=lambda peer: peer.since)
        oldest.forget()  # now, for more may come before it is gone
        oldest.abort()
        return True

    def no_more_files(self, problem: OSError) -> None:
        """The system gives no more."""
        self._notices.say(
            "files", f"no connection can be taken for now: {problem.strerror} (`ulimit -n` says how many)"
        )
