"""What a page asks the cluster: a question at each beat, and others when they come up."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from kcli.errors import KcliError
from kcli.tui.alerts.alerting import toast
from kcli.tui.beat.gc_tuning import Pace
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from textual.screen import Screen
    from textual.worker import Worker

    from kcli.client import Client
    from kcli.registry.listing.opened import OpenRegistry
    from kcli.tui.state import State

    Question = Callable[[Client], Awaitable[Any]]
    RegistryQuestion = Callable[[OpenRegistry], Awaitable[Any]]
    Ask = Callable[[], Awaitable[Any]]
    Then = Callable[[Any], object]
    Work = Callable[[], Coroutine[None, None, None]]  # no coroutine yet: a page may be gone before its worker begins


class Asking:
    """The questions of one page. They are cancelled when it is left, and what comes when it cannot be shown any more,
    as `is_there` says, is forgotten."""

    def __init__(self, page: Screen[Any], state: State, is_there: Callable[[], bool]) -> None:
        self.trouble = ""  # what went wrong at the last beat
        self.told = ""  # the kind of trouble that a toast was about, until an answer comes again
        self._page = page
        self._state = state
        self._is_there = is_there
        self._under_way = 0
        self._pace = Pace()
        self._asked = float("-inf")  # when the last question of a beat was asked
        self._hurried = 0  # how often the user refreshed until then
        self._shown: float | None = None  # when the question was asked whose answer is shown
        self._answer: list[Any] = []  # the values of that answer, where it is a list of them

    @property
    def due(self) -> bool:
        """Whether to ask again at this beat: not while a question is under way, nor soon after one that cost much,
        unless the user refreshes."""
        if self.busy:
            return False
        stretched = self.interval > self._state.session.interval
        rested = not stretched or time.monotonic() - self._asked >= self.interval
        return rested or self._hurried != self._state.session.hurried

    @property
    def interval(self) -> float:
        """Seconds from one question to the next."""
        return self._pace.interval(self._state.session.interval)

    @property
    def age(self) -> float | None:
        """How old the answer is, in seconds, where it is asked for less often than groups are; None elsewhere."""
        stretched = self.interval > self._state.session.interval
        return time.monotonic() - self._shown if stretched and self._shown is not None else None

    @property
    def busy(self) -> bool:
        """Whether the question of a beat is under way: it may take longer than a beat, and is waited for."""
        return bool(self._under_way)

    def stop(self) -> None:
        """End the question of a beat: its answer would not be shown."""
        if self.busy:
            self._asked = float("-inf")
            self._page.workers.cancel_group(self._page, "fetch")

    def beat(self, question: Question, then: Then) -> None:
        """Ask instead of what is under way. An error is a toast, and what was there stays."""

        async def measured(client: Client) -> Any:
            with self._state.session.making(), self._pace.measured():
                return await question(client)

        self._begin(partial(self._state.session.ask, measured), then)

    def beat_registry(self, question: RegistryQuestion, then: Then) -> None:
        """As `beat`, of the schema registry."""
        self._begin(partial(self._state.session.ask_registry, question), then)

    def _begin(self, ask: Ask, then: Then) -> None:
        work: Work = partial(self._beat, ask, then)
        _: Worker[None] = self._page.run_worker(work, exclusive=True, group="fetch")

    async def _beat(self, ask: Ask, then: Then) -> None:
        self._under_way += 1
        self._asked, self._hurried = begun, _ = time.monotonic(), self._state.session.hurried
        try:
            answer = await ask()
        except KcliError as problem:
            self._trouble(problem)
            return
        finally:
            self._under_way -= 1
        self.told = self.trouble = ""
        if self._is_there():
            self._shown = begun
            with self._pace.continued():
                then(answer)
                self._state.session.free(self._answer)
                self._answer = list(answer) if isinstance(answer, list) else []

    def _trouble(self, problem: KcliError) -> None:
        """One toast for one trouble, however many beats it lasts; the masthead shows it as long as it does."""
        self.trouble = f"✖ {printable(str(problem))}"
        kind = type(problem).__name__
        if kind != self.told and not self._state.problem:
            toast(self._page.app, problem)
        self.told = kind

    def once(self, question: Question, then: Then) -> None:
        """Ask one thing more; `then` gets the answer."""
        work: Work = partial(self._once, partial(self._state.session.ask, question), then)
        _: Worker[None] = self._page.run_worker(work, group="ask")

    def once_registry(self, question: RegistryQuestion, then: Then) -> None:
        """As `once`, of the schema registry."""
        work: Work = partial(self._once, partial(self._state.session.ask_registry, question), then)
        _: Worker[None] = self._page.run_worker(work, group="ask")

    async def _once(self, ask: Ask, then: Then) -> None:
        try:
            answer = await ask()
        except KcliError as problem:
            toast(self._page.app, problem)
            return
        if self._is_there():
            then(answer)
