"""`kcli sandbox`: the embedded broker as a process, until Ctrl-C. Loopback only unless asked for twice."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import signal
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from kcli.cli.typed import SETTINGS
from kcli.errors import KcliError, UsageError

app = typer.Typer(**{**SETTINGS, "no_args_is_help": False})

Topics = Annotated[
    list[str] | None, typer.Option("--topic", metavar="NAME[:PARTITIONS]", help="Create this topic. Repeatable.")
]


@app.command()
def sandbox(
    port: Annotated[int, typer.Option(help="Port of the first broker; 0 takes a free one.", min=0, max=65535)] = 9092,
    brokers: Annotated[int, typer.Option(help="How many brokers, on ports one after the other.", min=1, max=9)] = 1,
    data: Annotated[Path | None, typer.Option(help="Keep everything in this folder. Default: in memory.")] = None,
    topic: Topics = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[bool, typer.Option(help="Really listen on an address others can reach.")] = False,
    auto_create: Annotated[bool, typer.Option(help="Create a topic when a client that asks for it names it.")] = True,
    format: Annotated[Literal["plain", "json"], typer.Option(help="How to print the address.")] = "plain",
) -> int:
    """Run an embedded Kafka broker on this machine until Ctrl-C.

    In memory, or on disk with --data: there, acknowledged records survive a killed process (they are written to the
    operating system before they are acknowledged; they are not fsynced, so a power cut may take the last ones).
    It is for trying things out and for tests; it is not a production broker.

    \b
    Examples:
      kcli sandbox
      kcli sandbox --port 0 --format json --topic orders:3
      kcli sandbox --brokers 3 --data ./kafka-data
    """
    _check_host(host, allow_remote)
    topics = dict(_topic(text) for text in topic or [])
    try:
        asyncio.run(_serve(host, port, brokers, data, topics, auto_create, format))
    except OSError as problem:
        raise KcliError(f"cannot listen on {host}:{port}: {problem.strerror or problem}") from problem
    return 0


def _check_host(host: str, allow_remote: bool) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback and not allow_remote:
        raise UsageError(f"--host {host} can be reached by others, and a sandbox lets everybody in: add --allow-remote")


def _topic(text: str) -> tuple[str, int]:
    name, colon, count = text.rpartition(":")
    if not colon:
        return text, 1
    if not name or not count.isdecimal() or not 1 <= int(count) <= 10_000:
        raise UsageError(f"--topic {text}: it must be NAME or NAME:PARTITIONS, such as orders:3")
    return name, int(count)


async def _serve(
    host: str, port: int, brokers: int, data: Path | None, topics: dict[str, int], auto_create: bool, format: str
) -> None:
    from kcli.sandbox.sandbox import Sandbox

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with Sandbox(
        brokers=brokers, host=host, port=port, data=data, topics=topics, auto_create=auto_create
    ) as running:
        if format == "json":
            print(json.dumps({"bootstrap": running.bootstrap, "data": str(data) if data else None}), flush=True)
        else:
            where = f"data in {data}" if data else "in memory"
            print(f"kcli sandbox listens on {running.bootstrap} ({where}). Ctrl-C stops it.", flush=True)
            print(f"export KCLI_BOOTSTRAP={running.bootstrap}", file=sys.stderr)
        await stop.wait()
