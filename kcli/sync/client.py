"""A client without async: `with SyncClient("localhost:9092") as kafka:`."""

from __future__ import annotations

from kcli.client import Client
from kcli.errors import UsageError
from kcli.sync.loop_thread import LoopThread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from types import TracebackType
    from typing import Self, TypeVar

    from kcli.client import Connect
    from kcli.formats import Format
    from kcli.grammar.bound import Bound
    from kcli.lag.snapshot import GroupLag
    from kcli.metrics.hooks import Hooks
    from kcli.metrics.values import ClientMetrics
    from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings
    from kcli.sync.admin import SyncAdmin
    from kcli.sync.consumer import SyncConsumer
    from kcli.sync.producer import SyncProducer

    T = TypeVar("T")


class SyncClient:
    """A connection to one cluster for synchronous code. Its event loop runs in a thread while the `with` block
    is open."""

    def __init__(
        self,
        settings: ClientSettings | Mapping[str, object] | str,
        *,
        connect: Connect | None = None,
        hooks: Hooks | None = None,
    ) -> None:
        """The arguments are those of `Client`; hooks are called in the loop's thread."""
        self._settings = settings
        self._hooks = hooks
        self._connect = connect
        self._thread: LoopThread | None = None
        self._client: Client | None = None

    def __enter__(self) -> Self:
        self._thread = LoopThread()
        try:
            self._client = self._thread.call(lambda: Client(self._settings, connect=self._connect, hooks=self._hooks))
            self._thread.run(self._client.__aenter__())
        except BaseException:
            self._thread.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        thread, client = self._thread, self._client
        self._thread = self._client = None
        if thread is None or client is None or thread.forked:
            return
        try:
            thread.run(client.__aexit__(kind, error, trace))
        finally:
            thread.close()

    def run(self, what: Callable[[Client], Awaitable[T]]) -> T:
        """Run the coroutine `what(client)` on the loop and return its result, for calls without a synchronous
        counterpart."""
        thread, client = self._in_use()

        async def call() -> T:
            return await what(client)

        return thread.run(call())

    def producer(
        self, settings: ProducerSettings | None = None, *, key: Format | None = None, value: Format | None = None
    ) -> SyncProducer:
        """Create a producer, to be used in a `with` block inside the client's. The arguments are those of
        `Client.producer`."""
        from kcli.sync.producer import SyncProducer

        thread, client = self._in_use()
        return SyncProducer(thread, thread.call(lambda: client.producer(settings, key=key, value=value)))

    def consumer(
        self,
        *topics: str,
        group: GroupSettings | str | None = None,
        start: Bound | str | None = None,
        stop_at_end: bool = False,
        settings: ConsumerSettings | None = None,
        key: Format | None = None,
        value: Format | None = None,
    ) -> SyncConsumer:
        """Create a consumer, to be used in a `with` block inside the client's. The arguments are those of
        `Client.consumer`."""
        from kcli.sync.consumer import SyncConsumer

        thread, client = self._in_use()
        return SyncConsumer(
            thread,
            thread.call(
                lambda: client.consumer(
                    *topics,
                    group=group,
                    start=start,
                    stop_at_end=stop_at_end,
                    settings=settings,
                    key=key,
                    value=value,
                )
            ),
        )

    def lag(self, group: str, *, isolation: str = "read_uncommitted") -> GroupLag:
        """Like `Client.lag`."""
        thread, client = self._in_use()
        return thread.run(client.lag(group, isolation=isolation))

    @property
    def metrics(self) -> ClientMetrics:
        """Like `Client.metrics`."""
        thread, client = self._in_use()
        return thread.call(lambda: client.metrics)

    @property
    def admin(self) -> SyncAdmin:
        """The admin client, which inspects and changes the cluster."""
        from kcli.sync.admin import SyncAdmin

        thread, client = self._in_use()
        return SyncAdmin(thread, client.admin)

    def _in_use(self) -> tuple[LoopThread, Client]:
        if self._thread is None or self._client is None:
            raise UsageError("use the client in a with block")
        return self._thread, self._client
