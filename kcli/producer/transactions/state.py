"""The state machine of a transactional producer: which calls are allowed in which state. No I/O and no clock.

The states are those of Java's TransactionManager. A call that is not allowed raises and changes nothing.
"""

from __future__ import annotations

from enum import Enum

from kcli.errors import KcliError, UsageError


class State(Enum):
    UNINITIALIZED = "has no producer id yet"
    INITIALIZING = "is being initialised"
    READY = "has no open transaction"
    IN_TRANSACTION = "is in a transaction"
    COMMITTING = "is committing"
    ABORTING = "is aborting"
    ABORTABLE_ERROR = "has a transaction that can only be aborted"
    FATAL_ERROR = "cannot continue"


FROM: dict[State, frozenset[State]] = {
    State.UNINITIALIZED: frozenset({State.INITIALIZING}),
    State.INITIALIZING: frozenset({State.UNINITIALIZED}),
    State.READY: frozenset({State.INITIALIZING, State.COMMITTING, State.ABORTING}),
    State.IN_TRANSACTION: frozenset({State.READY}),
    State.COMMITTING: frozenset({State.IN_TRANSACTION}),
    State.ABORTING: frozenset({State.IN_TRANSACTION, State.ABORTABLE_ERROR}),
    State.ABORTABLE_ERROR: frozenset({State.IN_TRANSACTION, State.COMMITTING, State.ABORTING}),
    State.FATAL_ERROR: frozenset(State),
}
"""For each state, the states from which it can be entered."""

CALLS: dict[str, frozenset[State]] = {
    "begin": frozenset({State.READY}),
    "send": frozenset({State.IN_TRANSACTION}),
    "send_offsets": frozenset({State.IN_TRANSACTION}),
    "commit": frozenset({State.IN_TRANSACTION}),
    "abort": frozenset({State.IN_TRANSACTION, State.ABORTABLE_ERROR}),
}
"""For each call, the states in which it is allowed."""


class AbortRequired(KcliError):
    """A part of the transaction failed, so it can only be aborted. `__cause__` is the failure."""


class Fenced(KcliError):
    """A newer producer with the same transactional id took over, or the coordinator gave up on this one. Final."""


class TransactionStatus:
    """The current state and, in an error state, the error."""

    __slots__ = ("error", "state")

    def __init__(self) -> None:
        self.state = State.UNINITIALIZED
        self.error: KcliError | None = None

    def go(self, to: State, error: KcliError | None = None) -> None:
        """Enter a state. Raises AssertionError for a forbidden transition, which is a bug."""
        if self.state not in FROM[to]:
            raise AssertionError(f"{self.state.name} to {to.name}")
        self.state, self.error = to, error

    def fail(self, error: KcliError, *, fatal: bool) -> None:
        """Record an error. The first error of a transaction is kept; a fatal one is final."""
        if self.state is State.FATAL_ERROR:
            return
        if fatal:
            self.go(State.FATAL_ERROR, error)
        elif self.state in (State.IN_TRANSACTION, State.COMMITTING):
            self.go(State.ABORTABLE_ERROR, error)

    def abort_again(self, error: KcliError) -> None:
        """Allow another abort after one that failed."""
        if self.state is State.ABORTING:
            self.go(State.ABORTABLE_ERROR, error)

    def check(self, call: str) -> None:
        """Raise UsageError, AbortRequired or the fatal error if the call is not allowed now."""
        if self.state in CALLS[call]:
            return
        if self.state is State.FATAL_ERROR:
            assert self.error is not None
            raise self.error
        if self.state is State.ABORTABLE_ERROR:
            raise AbortRequired(f"the transaction can only be aborted: {self.error}") from self.error
        needs = {"begin": "end the transaction first", "abort": "there is nothing to abort"}
        raise UsageError(f"{call}: the producer {self.state.value}; {needs.get(call, 'begin a transaction first')}")
