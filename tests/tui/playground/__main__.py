"""`python -m tests.tui.playground [--address]`: on a terminal the dashboard, until it is left; else, or with
--address, the address of the sandbox, until a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys

from kcli.errors import KcliError
from kcli.sandbox.thread import SandboxThread
from tests.tui.playground.live import play
from tests.tui.playground.still import seed


async def run(bootstrap: str, *, dashboard: bool) -> int:
    """The exit code of the dashboard; 0 where a signal ended it."""
    await seed(bootstrap)
    playing = asyncio.create_task(play(bootstrap))
    try:
        if dashboard:
            words = ("-m", "kcli", "tui", "-b", bootstrap, "--interval", "1s")
            return await (await asyncio.create_subprocess_exec(sys.executable, *words)).wait()
        print(f"30 topics, a dozen groups: kcli tui -b {bootstrap}", flush=True)
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        stopping = asyncio.create_task(stopped.wait())
        await asyncio.wait((playing, stopping), return_when=asyncio.FIRST_COMPLETED)
        return 0 if stopped.is_set() else 1
    finally:
        playing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await playing


def main() -> int:
    terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with SandboxThread() as sandbox:
        try:
            return asyncio.run(run(sandbox.bootstrap, dashboard=terminal and "--address" not in sys.argv))
        except* KcliError as problems:
            raise SystemExit(str(problems.exceptions[0])) from None


if __name__ == "__main__":
    sys.exit(main())
