"""`kcli sandbox`: the embedded broker as a process, until Ctrl-C. Loopback only unless asked for twice."""

from __future__ import annotations

import ipaddress
import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kcli.cli.parsing.typer_app import SETTINGS
from kcli.cli.runtime.signals import Stop, run
from kcli.errors import KcliError, UsageError

if TYPE_CHECKING:
    from kcli.sandbox.settings import SandboxSettings

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
    partitions: Annotated[
        int, typer.Option(help="How many partitions a topic has when nobody says it.", min=1, max=10_000)
    ] = 1,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[bool, typer.Option(help="Really listen on an address others can reach.")] = False,
    auto_create: Annotated[bool, typer.Option(help="Create a topic when a client that asks for it names it.")] = True,
    tls: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Speak TLS, with certificates made in this folder if it has none (ca.pem)."
        ),
    ] = None,
    client_ca: Annotated[
        Path | None, typer.Option(help="With --tls: want a client certificate of this authority (PEM).")
    ] = None,
    users: Annotated[
        Path | None, typer.Option(help="Want SASL of everybody: a file of NAME:PASSWORD lines, PLAIN and SCRAM.")
    ] = None,
    session_lifetime: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="With --users: have them authenticate again.", min=0.1)
    ] = None,
    super_user: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PRINCIPAL", help="Obey ACLs: this one may everything, others what ACLs allow. Repeatable."
        ),
    ] = None,
    open_without_acl: Annotated[
        bool, typer.Option("--open-without-acl", help="With --super-user: what no ACL is about is open to everybody.")
    ] = False,
    control: Annotated[
        bool, typer.Option(help="Let the dashboard and `kcli faults` of this machine order faults.")
    ] = True,
    rack: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="The racks brokers are in, in turn. Repeatable.")
    ] = None,
    disks: Annotated[int, typer.Option(help="How many log directories each broker says it has.", min=1, max=9)] = 1,
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
      kcli sandbox --brokers 3 --partitions 6 --data ./kafka-data
      kcli sandbox --tls ./certificates --users users.txt
      kcli sandbox --users users.txt --super-user admin
    """
    _check_host(host, allow_remote)
    if port and port + brokers - 1 > 65535:
        raise UsageError(f"--port {port} --brokers {brokers}: there is no port {port + brokers - 1}")
    from kcli.sandbox.settings import SandboxSettings

    topics = dict(_topic(text, partitions) for text in topic or [])
    try:
        settings = SandboxSettings(
            host=host,
            port=port,
            brokers=brokers,
            anywhere=allow_remote,
            racks=rack or (),
            disks=disks,
            data=data,
            topics=topics,
            partitions=partitions,
            auto_create=auto_create,
            control=control,
            tell=_tell,
        )
        settings = _encrypted(settings, tls, client_ca)
        settings = _authenticated(settings, users, session_lifetime)
        settings = _authorized(settings, super_user, open_without_acl)
        if allow_remote and settings.advertised is None and host in ("0.0.0.0", "::"):
            from socket import gethostname

            settings = settings.replace(advertised=gethostname())  # clients cannot connect to "all addresses"
        return run(partial(_serve, settings, format))
    except OSError as problem:
        if problem.filename is not None:
            raise KcliError(f"{problem.filename}: {problem.strerror}") from problem
        raise KcliError(f"cannot listen on {host}:{port}: {problem.strerror or problem}") from problem


def _check_host(host: str, allow_remote: bool) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not host:
        raise UsageError("--host: the address is empty")
    if not loopback and not allow_remote:
        raise UsageError(f"--host {host} can be reached by others, and a sandbox lets everybody in: add --allow-remote")


def _topic(text: str, partitions: int) -> tuple[str, int]:
    name, colon, count = text.rpartition(":")
    if not colon:
        return text, partitions
    if not name or not count.isdecimal() or not 1 <= int(count) <= 10_000:
        raise UsageError(f"--topic {text}: it must be NAME or NAME:PARTITIONS, such as orders:3")
    return name, int(count)


def _encrypted(settings: SandboxSettings, folder: Path | None, client_ca: Path | None) -> SandboxSettings:
    """Raises UsageError."""
    if folder is None:
        if client_ca is not None:
            raise UsageError("--client-ca goes with --tls")
        return settings
    from kcli.sandbox.access.tls import find_or_make

    made = find_or_make(folder)
    if client_ca is not None:
        made = made.replace(client_ca=str(client_ca))
    return settings.replace(tls=made, advertised="localhost")


def _authenticated(settings: SandboxSettings, users: Path | None, lifetime: float | None) -> SandboxSettings:
    """Raises UsageError."""
    if users is not None:
        return settings.replace(sasl=_users(users), session_lifetime=lifetime)
    if lifetime is not None:
        raise UsageError("--session-lifetime goes with --users")
    return settings


def _authorized(settings: SandboxSettings, super_users: list[str] | None, everyone: bool) -> SandboxSettings:
    """Raises UsageError."""
    if super_users is None:
        if everyone:
            raise UsageError("--open-without-acl goes with --super-user")
        return settings
    from kcli.acls import principal

    return settings.replace(super_users=[principal(one) for one in super_users], everyone=everyone)


def _tell(sentence: str) -> None:
    print(f"kcli: {sentence}", file=sys.stderr, flush=True)


def _hint(settings: SandboxSettings) -> str:
    """The properties that a client needs besides the address."""
    protocol = f"{'SASL_' if settings.sasl is not None else ''}{'SSL' if settings.tls is not None else 'PLAINTEXT'}"
    words = [f"-X security.protocol={protocol}"]
    if settings.tls is not None:
        words.append(f"-X ssl.ca.location={Path(settings.tls.certificate).with_name('ca.pem')}")
    if settings.sasl is not None:
        words += ["-X sasl.mechanism=SCRAM-SHA-512", f"-X sasl.username={next(iter(settings.sasl))}"]
    return " ".join(words)


def _users(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"--users {path}: {getattr(problem, 'strerror', None) or 'is not text'}") from None
    pairs = [line.partition(":") for line in lines if line.strip() and not line.startswith("#")]
    if not pairs or not all(name and colon for name, colon, _ in pairs):
        raise UsageError(f"--users {path}: every line is NAME:PASSWORD, and there is at least one")
    return {name: password for name, _, password in pairs}


async def _serve(settings: SandboxSettings, format: str, stop: Stop) -> int:
    """Until a signal comes."""
    from kcli.sandbox.sandbox import Sandbox

    data = settings.data
    async with Sandbox(settings) as running:
        if format == "json":
            print(json.dumps({"bootstrap": running.bootstrap, "data": str(data) if data else None}), flush=True)
        else:
            where = f"data in {data}" if data else "in memory"
            print(f"kcli sandbox listens on {running.bootstrap} ({where}). Ctrl-C stops it.", flush=True)
            print(f"export KCLI_BOOTSTRAP={running.bootstrap}", file=sys.stderr)
            if settings.tls is not None or settings.sasl is not None:
                print(_hint(settings), file=sys.stderr)
        await stop.wait()
    return 0
