"""One Produce request on the wire, and the batches in it: what a connection settles, as it settles a future."""

from __future__ import annotations

from kcli.errors import ConnectError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from kcli.producer.batches.batch import ProducerBatch
    from kcli.producer.batches.queue import PartitionQueue
    from kcli.proto.messages.produce import ProduceRequest, ProduceResponse

    Sent = list[tuple[PartitionQueue, ProducerBatch]]


class Exchange:
    """`cap` is the highest version of the request, which leaves at `since`. `response` is None after an error and with
    acks=0. `task`: what asks, where that has to wait for something."""

    __slots__ = ("cap", "over", "problem", "request", "response", "sent", "since", "task")

    def __init__(self, sent: Sent, request: ProduceRequest, cap: int | None, since: float) -> None:
        self.sent = sent
        self.request = request
        self.cap = cap
        self.since = since
        self.over = False
        self.response: ProduceResponse | None = None
        self.problem: BaseException | None = None
        self.task: asyncio.Task[ProduceResponse | None] | None = None

    def done(self) -> bool:
        return self.over

    def set_result(self, answer: Any, /) -> None:
        self.response = answer
        self.over = True

    def set_exception(self, problem: Any, /) -> None:
        self.problem = problem
        self.over = True

    def asked_by(self, task: asyncio.Task[ProduceResponse | None], on_over: Callable[[], None]) -> None:
        """The task's result is the response; `on_over` is called once, when it is there or an error."""
        self.task = task
        task.add_done_callback(self._asked)
        task.add_done_callback(lambda _: on_over())

    def _asked(self, task: asyncio.Task[ProduceResponse | None]) -> None:
        if task.cancelled():
            if not self.over:  # not by `give_up`: the program cancels all tasks, and the request may have left
                self.set_exception(ConnectError("the request was cancelled", sent=True))
        elif (problem := task.exception()) is not None:
            self.set_exception(problem)
        else:
            self.set_result(task.result())

    def give_up(self) -> None:
        """The response is not wanted any more: the producer is being closed, and settles what is left by itself."""
        self.over = True
        if self.task is not None:
            self.task.cancel()
