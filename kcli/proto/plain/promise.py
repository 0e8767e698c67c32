"""The result of `send`: behaves like an asyncio future at a tenth of the cost.

A loop over `send` creates one per record, and most are never used. So a promise has no state: it looks at its batch's
`SharedOutcome` when asked. The batch only knows promises with callbacks.
"""

from __future__ import annotations

from contextvars import copy_context

from kcli.proto.columns import RecordMetadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Generator
    from contextvars import Context
    from typing import Any

    Future = asyncio.Future[RecordMetadata]
else:
    Future = object  # the type of a promise for type checkers


class SharedOutcome:
    """The outcome of the records of one batch, set once for all. `error` is None for a stored batch; `halves`: the
    batch was split before the record of that index, and each part has its own outcome."""

    __slots__ = ("append_time", "at", "base_offset", "error", "halves", "loop", "own", "settled", "watched")

    def __init__(self, at: tuple[str, int], loop: asyncio.AbstractEventLoop) -> None:
        self.at = at
        self.loop = loop
        self.settled = False
        self.base_offset = self.append_time = -1
        self.error: Exception | None = None
        self.own: dict[int, Any] | None = None
        self.halves: tuple[int, SharedOutcome, SharedOutcome] | None = None
        self.watched: list[Promise] = []  # promises with callbacks

    def keep(self, base_offset: int, append_time: int) -> None:
        """The batch was stored: each record has its own offset and, unless the broker set one, its own time."""
        self.base_offset, self.append_time = base_offset, append_time
        self._settle()

    def fail(self, error: Exception, own: dict[int, Any] | None = None) -> None:
        """Every record failed with the error, or with its own (KIP-467)."""
        self.error, self.own = error, own
        self._settle()

    def split(self, half: int, first: SharedOutcome, second: SharedOutcome) -> None:
        """The batch was split: the records from `half` on have the second outcome, the others the first."""
        self.halves = half, first, second
        watched, self.watched = self.watched, []
        for promise in watched:
            promise.now().watched.append(promise)

    def _settle(self) -> None:
        self.settled = True
        watched, self.watched = self.watched, []
        for promise in watched:
            promise.tell()


class Promise(Future):
    """The position of one record, or the error. It can be awaited, waited for, gathered, shielded and cancelled like an
    `asyncio.Future`, of which it is not an instance. An error that is never retrieved is not logged."""

    __slots__ = (
        "__weakref__",
        "_asyncio_future_blocking",
        "_callback_list",
        "_fate",
        "_gone",
        "_index",
        "_message",
        "_stored",
        "_time",
    )

    def __init__(self, outcome: SharedOutcome, index: int, timestamp: int) -> None:
        self._fate = outcome
        self._index = index
        self._time = timestamp
        self._callback_list: list[tuple[Callable[[Any], object], Context]] | None = None
        self._stored: RecordMetadata | None = None
        self._gone = False
        self._message: object = None
        self._asyncio_future_blocking = False

    def now(self) -> SharedOutcome:
        """Return the outcome of the part that has the record, if the batch was split."""
        while self._fate.halves is not None:
            half, first, second = self._fate.halves
            if self._index < half:
                self._fate = first
            else:
                self._index -= half
                self._fate = second
        return self._fate

    def done(self) -> bool:
        """Whether the record's outcome is known, or the promise was cancelled."""
        return self._gone or self.now().settled

    def cancelled(self) -> bool:
        """Whether `cancel` came first."""
        return self._gone

    def result(self) -> RecordMetadata:
        """Return the position of the record, or raise its error; InvalidStateError before the outcome is known."""
        if self._stored is None:
            problem = self.exception()
            if problem is not None:
                raise problem.with_traceback(None)
            outcome = self._fate
            offset = outcome.base_offset + self._index if outcome.base_offset >= 0 else -1
            time = outcome.append_time if outcome.append_time >= 0 else self._time
            self._stored = RecordMetadata(*outcome.at, offset, time)
        return self._stored

    def exception(self) -> Exception | None:
        """Return the record's error; None if it is stored. Raises CancelledError; InvalidStateError before the outcome
        is known."""
        outcome = self.now()
        if self._gone:
            raise self._make_cancelled_error()
        if not outcome.settled:
            from asyncio import InvalidStateError

            raise InvalidStateError("the outcome of the record is not known yet")
        return outcome.own.get(self._index, outcome.error) if outcome.own else outcome.error

    def add_done_callback(self, function: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Have the loop call the function with the promise soon after it is done."""
        context = copy_context() if context is None else context
        outcome = self.now()
        if self._gone or outcome.settled:
            outcome.loop.call_soon(function, self, context=context)
            return
        if self._callback_list is None:
            self._callback_list = []
            outcome.watched.append(self)
        self._callback_list.append((function, context))

    def remove_done_callback(self, function: Callable[[Any], object]) -> int:
        """Remove that function; return how often it would have been called."""
        if self._callback_list is None:
            return 0
        before = len(self._callback_list)
        self._callback_list = [row for row in self._callback_list if row[0] != function]
        return before - len(self._callback_list)

    def tell(self) -> None:
        """Have the loop call everything that waits for the outcome."""
        callbacks, self._callback_list = self._callback_list, None
        for function, context in callbacks or ():
            self._fate.loop.call_soon(function, self, context=context)

    def cancel(self, msg: object = None) -> bool:
        """Stop waiting for it; returns False if the outcome is already known. The record is sent anyway."""
        if self.done():
            return False
        self._gone, self._message = True, msg
        self.tell()
        return True

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the producer's loop."""
        return self._fate.loop

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        if not self.done():
            self._asyncio_future_blocking = True
            yield self
        if not self.done():
            raise RuntimeError("a promise has to be awaited with `await`")
        return self.result()

    __iter__ = __await__

    # used by asyncio's own functions

    @property
    def _cancel_message(self) -> object:
        return self._message

    def _make_cancelled_error(self) -> asyncio.CancelledError:
        from asyncio import CancelledError

        return CancelledError() if self._message is None else CancelledError(self._message)

    def __repr__(self) -> str:
        if not self.done():
            return "<Promise pending>"
        if self._gone:
            return "<Promise cancelled>"
        problem = self.exception()
        return f"<Promise {self.result() if problem is None else repr(problem)}>"
