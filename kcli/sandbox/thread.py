"""A sandbox in a separate thread, for programs and tests without asyncio, or with a separate event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Self

from kcli.sandbox.faults.faults import NAMESPACES
from kcli.sandbox.sandbox import Sandbox
from kcli.sandbox.settings import SandboxSettings

STOP_TIMEOUT = 10.0


class SandboxThread:
    """A sandbox in a thread: `with SandboxThread(topics={"t": 1}) as sandbox:`. Takes the same arguments as `Sandbox`.

    `faults` is `Sandbox.faults`, callable from any thread: each call runs in the sandbox's loop and has finished when
    it returns.
    """

    def __init__(self, settings: SandboxSettings | None = None, **options: Any) -> None:
        self._sandbox = Sandbox(settings, **options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kcli-sandbox", daemon=True)
        self.faults: Any = RemoteFaults(self)

    @property
    def bootstrap(self) -> str:
        """host:port of every broker, separated by commas."""
        return self._sandbox.bootstrap

    @property
    def registry_url(self) -> str:
        """The address of the schema registry; "" without one."""
        return self._sandbox.registry_url

    @property
    def violations(self) -> list[str]:
        """Protocol violations of kcli's own client in this sandbox; see wire/client_rules.py."""
        return list(self._sandbox.violations)

    def call(self, function: Callable[[Sandbox], Any]) -> Any:
        """Run `function(sandbox)` in the sandbox's loop and return its result; a coroutine that it returns is awaited
        there."""

        async def run() -> Any:
            result = function(self._sandbox)
            return await result if asyncio.iscoroutine(result) else result

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def start(self) -> None:
        """Start the sandbox. Raises the errors of `Sandbox.start`."""
        self._thread.start()
        try:
            self.call(Sandbox.start)
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        """Close the sandbox. Raises the errors of `Sandbox.close`."""
        try:
            self.call(Sandbox.close)
        finally:
            self._end()

    def _end(self) -> None:
        self.call(lambda _: _leave_nothing())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_TIMEOUT)
        self._loop.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _leave_nothing() -> None:
    """Wait for asyncio's own tasks: it may have been accepting a connection while its listener closed."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.sleep(0)  # transports close their sockets in a later turn


class RemoteFaults:
    """The faults of a sandbox in another thread, with the same namespaces."""

    def __init__(self, thread: SandboxThread, namespace: str | None = None) -> None:
        self._thread = thread
        self._namespace = namespace

    def __getattr__(self, name: str) -> Any:
        if self._namespace is None and name in NAMESPACES:
            return RemoteFaults(self._thread, name)

        def call(*args: Any, **options: Any) -> Any:
            return self._thread.call(lambda sandbox: getattr(self._of(sandbox), name)(*args, **options))

        return call

    def _of(self, sandbox: Sandbox) -> Any:
        return sandbox.faults if self._namespace is None else getattr(sandbox.faults, self._namespace)
