"""What `send` returns: a future of asyncio in all that it does, at a tenth of the cost.

A loop over `send` makes one for each record, and most are never looked at. So a promise has no state of its own: it
looks at the fate of its batch when it is asked. The batch knows only those that have callbacks.
"""

from __future__ import annotations

from asyncio import InvalidStateError
from contextvars import copy_context

from kcli.producer.promises.fate import Cancelled
from kcli.proto.core import Promised

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from asyncio import CancelledError
    from collections.abc import Callable, Generator
    from contextvars import Context
    from typing import Any

    from kcli.errors import KcliError
    from kcli.producer.promises.fate import Fate, RecordMetadata

    class _Future(asyncio.Future[RecordMetadata]):
        """What type checkers take a promise for, and the fields of a `Promised`."""

        fate: Any
        index: int
        timestamp: int
        callbacks: Any
        stored: Any

        def __init__(self, fate: Fate, index: int, timestamp: int) -> None: ...

else:
    _Future = Promised


class Promise(_Future):
    """Where one record is stored, or why it is not. Awaited, waited for, gathered, shielded and cancelled as a
    `asyncio.Future`, which it is not an instance of. An error that is never looked at is not logged."""

    __slots__ = ()

    def now(self) -> Fate | Cancelled:
        """Its fate: of the part that has the record, where the batch was split."""
        fate: Fate | Cancelled = self.fate
        while fate.halves is not None:
            half, first, second = fate.halves
            if self.index >= half:
                self.index -= half
                first = second
            fate = self.fate = first
        return fate

    def done(self) -> bool:
        """Whether it is known what became of the record, or the promise was cancelled."""
        return self.now().settled

    def cancelled(self) -> bool:
        """Whether `cancel` came first."""
        return isinstance(self.fate, Cancelled)

    def result(self) -> RecordMetadata:
        """Where the record is stored. Raises what became of it else; InvalidStateError before that is known."""
        problem = self.exception()
        if problem is not None:
            raise problem.with_traceback(None)
        if self.stored is None:
            self.stored = self.fate.place(self.index, self.timestamp)
        stored: RecordMetadata = self.stored
        return stored

    def exception(self) -> KcliError | None:
        """Why the record failed; None if it is stored. Raises CancelledError; InvalidStateError before it is known."""
        fate = self.now()
        if isinstance(fate, Cancelled):
            raise fate.error()
        if not fate.settled:
            raise InvalidStateError("it is not yet known what became of the record")
        return fate.problem(self.index)

    def add_done_callback(self, function: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Have the loop call the function with the promise, soon after it is done."""
        context = copy_context() if context is None else context
        fate = self.now()
        if isinstance(fate, Cancelled) or fate.settled:
            fate.loop.call_soon(function, self, context=context)
            return
        if self.callbacks is None:
            self.callbacks = []
            fate.watched.append(self)
        self.callbacks.append((function, context))

    def remove_done_callback(self, function: Callable[[Any], object]) -> int:
        """Forget that function; how often it would have been called."""
        if self.callbacks is None:
            return 0
        before = len(self.callbacks)
        self.callbacks = [row for row in self.callbacks if row[0] != function]
        return before - len(self.callbacks)

    def tell(self) -> None:
        """Have the loop call what waits for the outcome."""
        callbacks, self.callbacks = self.callbacks, None
        loop = self.fate.loop
        for function, context in callbacks or ():
            loop.call_soon(function, self, context=context)

    def cancel(self, msg: object = None) -> bool:
        """Do not wait for it any longer; False if it is known already. The record is sent all the same."""
        fate = self.now()
        if fate.settled:
            return False
        self.fate = Cancelled(fate.loop, msg)
        self.tell()
        return True

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The producer's loop."""
        loop: asyncio.AbstractEventLoop = self.fate.loop
        return loop

    def __await__(self) -> Generator[Any, None, RecordMetadata]:
        if not self.now().settled:
            self._asyncio_future_blocking = True
            yield self
        if not self.now().settled:
            raise RuntimeError("a promise has to be awaited with `await`")
        return self.result()

    __iter__ = __await__

    # what asyncio's own functions look at

    @property
    def _cancel_message(self) -> object:
        return self.fate.message if isinstance(self.fate, Cancelled) else None

    def _make_cancelled_error(self) -> CancelledError:
        fate = self.fate
        assert isinstance(fate, Cancelled)
        return fate.error()

    def __repr__(self) -> str:
        if not self.done():
            return "<Promise pending>"
        if self.cancelled():
            return "<Promise cancelled>"
        problem = self.exception()
        return f"<Promise {self.result() if problem is None else repr(problem)}>"
