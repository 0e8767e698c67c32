"""`python -m kcli.sandbox [--port N] [--brokers N] [--partitions N] [--data DIR] [--topic NAME:PARTITIONS] [--registry]
[--feature transaction.version=1]`: the sandbox as a process.

Prints one line of JSON once it listens; ends on SIGINT, SIGTERM, SIGHUP, or with
`--exit-with-stdin` when stdin ends."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from kcli import watchdog
from kcli.errors import KcliError
from kcli.sandbox.sandbox import Sandbox
from kcli.sandbox.settings import SandboxSettings
from kcli.tasks import in_daemon_thread

if TYPE_CHECKING:
    from argparse import Namespace


def _arguments() -> Namespace:
    from argparse import ArgumentParser
    from pathlib import Path

    parser = ArgumentParser(prog="python -m kcli.sandbox", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--brokers", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=1, help="of topics that do not say how many")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--topic", action="append", default=[], metavar="NAME:PARTITIONS")
    parser.add_argument("--feature", action="append", default=[], metavar="NAME=LEVEL")
    parser.add_argument("--no-auto-create", action="store_true")
    parser.add_argument("--registry", action="store_true", help="a schema registry, on a free port")
    parser.add_argument("--anywhere", action="store_true", help="allow a host that is not loopback")
    parser.add_argument("--exit-with-stdin", action="store_true", help="end when stdin ends (stop with the parent)")
    return parser.parse_args()


async def _serve(arguments: Namespace) -> None:
    topics = {}
    for text in arguments.topic:
        name, _, count = text.partition(":")
        topics[name] = int(count or 1)
    features = {name: int(level) for name, _, level in (text.partition("=") for text in arguments.feature)}
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    watchdog.listen(loop, lambda number: ended.set())
    settings = SandboxSettings(
        brokers=arguments.brokers,
        host=arguments.host,
        port=arguments.port,
        partitions=arguments.partitions,
        data=arguments.data,
        topics=topics,
        auto_create=not arguments.no_auto_create,
        anywhere=arguments.anywhere,
        registry=arguments.registry,
        features=features,
    )
    async with Sandbox(settings) as sandbox:
        registry = f',"registry":"{sandbox.registry_url}"' if arguments.registry else ""
        print(f'{{"bootstrap":"{sandbox.bootstrap}"{registry}}}', flush=True)
        if arguments.exit_with_stdin:
            reading = loop.create_task(in_daemon_thread("stdin", _read_to_end))
            reading.add_done_callback(lambda _: ended.set())
        await ended.wait()


def _read_to_end() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        continue


def main() -> int:
    try:
        asyncio.run(_serve(_arguments()))
    except (KcliError, OSError, ValueError) as wrong:
        print(f"kcli: {wrong}", file=sys.stderr)
        return getattr(wrong, "exit_code", 1)
    return 0


if __name__ == "__main__":
    watchdog.arm()
    sys.exit(main())
