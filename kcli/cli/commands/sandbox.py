"""`kcli sandbox`: the embedded broker as a process, until Ctrl-C. Loopback only unless asked for twice."""

from __future__ import annotations

import ipaddress
import json
import socket
import sys
from contextlib import suppress
from errno import EADDRINUSE
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kcli.cli.documents.input_file import read_text
from kcli.cli.parsing.command import command
from kcli.cli.parsing.option import Options
from kcli.cli.runtime.signals import Stop, run
from kcli.errors import KcliError, UsageError
from kcli.grammar.durations import seconds
from kcli.system.files import SETTINGS

if TYPE_CHECKING:
    from typing import Annotated, Literal

    import typer

    from kcli.sandbox.settings import SandboxSettings

LEAST_LIFETIME = 100  # ms


class SandboxOptions(Options):
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Port of the first broker; 0 picks a free one (default 9092)."),
    ] = None
    brokers: Annotated[
        int | None,
        typer.Option("--brokers", min=1, max=100, help="Number of brokers, on consecutive ports (default 1)."),
    ] = None
    data: Annotated[
        str | None, typer.Option("--data", metavar="FOLDER", help="Keep everything in this folder. Default: in memory.")
    ] = None
    topics: Annotated[
        list[str], typer.Option("-t", "--topic", metavar="NAME[:PARTITIONS]", help="Create this topic. Repeatable.")
    ]
    partitions: Annotated[
        int | None,
        typer.Option("--partitions", min=1, max=10_000, help="Default number of partitions of a topic (default 1)."),
    ] = None
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Address to listen on (default 127.0.0.1).")
    ] = None
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow an address that other machines can reach.")
    ] = False
    no_allow_remote: Annotated[
        bool, typer.Option("--no-allow-remote", help="Listen on this machine only (default).")
    ] = False
    auto_create: Annotated[
        bool, typer.Option("--auto-create", help="Create topics that clients name, if they request it (default).")
    ] = False
    no_auto_create: Annotated[
        bool, typer.Option("--no-auto-create", help="Do not create topics that clients name.")
    ] = False
    registry: Annotated[
        bool, typer.Option("--registry", help="Also run a schema registry, with Confluent's REST API.")
    ] = False
    registry_port: Annotated[
        int | None,
        typer.Option(
            "--registry-port",
            min=0,
            max=65535,
            help="With --registry: its port; 0 picks a free one (default 8081, with --port 0 a free one).",
        ),
    ] = None
    tls: Annotated[
        str | None,
        typer.Option(
            "--tls",
            metavar="FOLDER",
            help="Use TLS, with the certificates in this folder; kcli creates them if there are none (ca.pem).",
        ),
    ] = None
    client_ca: Annotated[
        str | None,
        typer.Option(
            "--client-ca", metavar="FILE", help="With --tls: require a client certificate of this authority (PEM)."
        ),
    ] = None
    users: Annotated[
        str | None,
        typer.Option(
            "--users",
            metavar="FILE",
            help="Require SASL from all clients: a file of NAME:PASSWORD lines, PLAIN and SCRAM.",
        ),
    ] = None
    session_lifetime: Annotated[
        str | None,
        typer.Option(
            "--session-lifetime",
            metavar="DURATION",
            help="With --users: clients must authenticate again after this time.",
        ),
    ] = None
    super_users: Annotated[
        list[str],
        typer.Option(
            "--super-user",
            metavar="PRINCIPAL",
            help="Enforce ACLs: this principal may do anything, others only what ACLs allow. Repeatable.",
        ),
    ]
    open_without_acl: Annotated[
        bool,
        typer.Option("--open-without-acl", help="With --super-user: resources without an ACL are open to all users."),
    ] = False
    control: Annotated[
        bool,
        typer.Option("--control", help="Let the dashboard and `kcli faults` of this machine inject faults (default)."),
    ] = False
    no_control: Annotated[bool, typer.Option("--no-control", help="Refuse fault injection.")] = False
    racks: Annotated[
        list[str], typer.Option("--rack", metavar="NAME", help="Rack of the brokers, in turn. Repeatable.")
    ]
    disks: Annotated[
        int | None,
        typer.Option("--disks", min=1, max=9, help="Number of log directories that each broker reports (default 1)."),
    ] = None
    kafka_version: Annotated[
        Literal["4.4", "4.3"] | None,
        typer.Option("--kafka-version", help="Version of Kafka to behave like (default 4.4)."),
    ] = None
    format: Annotated[Literal["plain", "json"] | None, typer.Option("--format", help="Format of the address.")] = None


@command(
    "sandbox",
    examples="""
kcli sandbox
kcli sandbox --port 0 --format json --topic orders:3
kcli sandbox --brokers 3 --partitions 6 --data ./kafka-data
kcli sandbox --registry
kcli sandbox --tls ./certificates --users users.txt
kcli sandbox --users users.txt --super-user admin""",
)
def sandbox(options: SandboxOptions) -> int:
    """Run an embedded Kafka broker on this machine until Ctrl-C.

    In memory, or on disk with --data: there, acknowledged records survive a killed process (they are written to the
    operating system before they are acknowledged; they are not fsynced, so a power cut may lose the last ones). It is
    meant for tests and for trying things out, not for production. Nothing is compacted: a topic with
    cleanup.policy=compact refuses records without a key and keeps all others.
    """
    host, port = _address(options)
    if options.registry_port is not None and not options.registry:
        raise UsageError("--registry-port requires --registry")
    try:
        settings = _authorized(_authenticated(_encrypted(_plain(options, host, port), options), options), options)
        if settings.anywhere and settings.advertised is None and host in ("0.0.0.0", "::"):
            settings = settings.replace(advertised=_own_name())  # clients cannot connect to "all addresses"
        return run(partial(_serve, settings, options.format or "plain"))
    except OSError as problem:
        if problem.filename is not None:
            raise KcliError(f"{problem.filename}: {problem.strerror}") from problem
        raise KcliError(f"cannot listen: {problem.strerror or problem}{_free_port(settings, problem)}") from problem


def _own_name() -> str:
    """Return the host name of this machine; its address if the name does not resolve, as in a bare container."""
    name = socket.gethostname()
    with suppress(OSError, UnicodeError):
        socket.getaddrinfo(name, None)
        return name
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing; the system chooses the address that it would send from
        return str(probe.getsockname()[0])
    return "localhost"


def _free_port(settings: SandboxSettings, problem: OSError) -> str:
    """The option that takes a free port, where the problem is a port that is taken."""
    if problem.errno != EADDRINUSE:
        return ""
    of_registry = settings.registry and str(problem).endswith(f":{settings.registry_port})")
    return f"; --{'registry-' if of_registry else ''}port 0 uses a free port"


def _address(options: SandboxOptions) -> tuple[str, int]:
    """Host and port of the first broker. Raises UsageError for what cannot be listened on."""
    host = "127.0.0.1" if options.host is None else options.host
    _check_host(host, _remote(options))
    port = 9092 if options.port is None else options.port
    brokers = options.brokers or 1
    if port and port + brokers - 1 > 65535:
        raise UsageError(f"--port {port} --brokers {brokers}: there is no port {port + brokers - 1}")
    return host, port


def _remote(options: SandboxOptions) -> bool:
    return options.allow_remote and not options.no_allow_remote


def _plain(options: SandboxOptions, host: str, port: int) -> SandboxSettings:
    """The settings without security. Raises UsageError."""
    from kcli.sandbox.settings import SandboxSettings

    partitions = options.partitions or 1
    return SandboxSettings(
        host=host,
        port=port,
        kafka_version=options.kafka_version or "4.4",
        brokers=options.brokers or 1,
        anywhere=_remote(options),
        racks=options.racks,
        disks=options.disks or 1,
        data=_path(options.data),
        topics=dict(_topic(given, partitions) for given in options.topics),
        partitions=partitions,
        auto_create=not options.no_auto_create,
        control=not options.no_control,
        registry=options.registry,
        registry_port=_registry_port(options),
        tell=_tell,
    )


def _registry_port(options: SandboxOptions) -> int:
    if options.registry_port is None:
        return 0 if options.port == 0 else 8081
    return options.registry_port


def _path(given: str | None) -> Path | None:
    return None if given is None else Path(given)


def _check_host(host: str, allow_remote: bool) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback and not allow_remote:
        raise UsageError(
            f"--host {host} can be reached by other machines, and a sandbox accepts all clients: add --allow-remote"
        )


def _topic(text: str, partitions: int) -> tuple[str, int]:
    name, colon, count = text.rpartition(":")
    if not colon:
        return text, partitions
    if not name or not count.isdecimal() or not 1 <= int(count) <= 10_000:
        raise UsageError(f"--topic {text}: expected NAME or NAME:PARTITIONS, such as orders:3")
    return name, int(count)


def _encrypted(settings: SandboxSettings, options: SandboxOptions) -> SandboxSettings:
    """Raises UsageError."""
    if options.tls is None:
        if options.client_ca is not None:
            raise UsageError("--client-ca requires --tls")
        return settings
    from kcli.sandbox.access.tls import find_or_make

    tls = find_or_make(Path(options.tls))
    if options.client_ca is not None:
        tls = tls.replace(client_ca=options.client_ca)
    return settings.replace(tls=tls, advertised="localhost")


def _authenticated(settings: SandboxSettings, options: SandboxOptions) -> SandboxSettings:
    """Raises UsageError."""
    lifetime = seconds(options.session_lifetime, "--session-lifetime", None, LEAST_LIFETIME)
    if options.users is not None:
        return settings.replace(sasl=_users(options.users), session_lifetime=lifetime)
    if lifetime is not None:
        raise UsageError("--session-lifetime requires --users")
    return settings


def _authorized(settings: SandboxSettings, options: SandboxOptions) -> SandboxSettings:
    """Raises UsageError."""
    if not options.super_users:
        if options.open_without_acl:
            raise UsageError("--open-without-acl requires --super-user")
        return settings
    from kcli.acls import principal

    super_users = [principal(name) for name in options.super_users]
    return settings.replace(super_users=super_users, everyone=options.open_without_acl)


def _tell(sentence: str) -> None:
    print(f"kcli: {sentence}", file=sys.stderr, flush=True)


def _hint(settings: SandboxSettings) -> str:
    """The properties that a client needs besides the address."""
    protocol = f"{'SASL_' if settings.sasl is not None else ''}{'SSL' if settings.tls is not None else 'PLAINTEXT'}"
    words = [f"-X security.protocol={protocol}"]
    authority = Path(settings.tls.certificate).with_name("ca.pem") if settings.tls is not None else None
    if authority is not None:
        words.append(f"-X ssl.ca.location={authority}")
        words += [f"-X schema.registry.ssl.ca.location={authority}"] if settings.registry else []
    if settings.sasl is not None:
        words += ["-X basic.auth.credentials.source=SASL_INHERIT"] if settings.registry else []
        words += ["-X sasl.mechanism=SCRAM-SHA-512", f"-X sasl.username={next(iter(settings.sasl))}"]
    return " ".join(words)


def _users(path: str) -> dict[str, str]:
    lines = read_text(path, SETTINGS, f"--users {path}").splitlines()
    pairs = [line.partition(":") for line in lines if line.strip() and not line.startswith("#")]
    if not pairs or not all(name and colon for name, colon, _ in pairs):
        raise UsageError(f"--users {path}: expected one NAME:PASSWORD per line")
    return {name: password for name, _, password in pairs}


async def _serve(settings: SandboxSettings, format: str, stop: Stop) -> int:
    """Until a signal comes."""
    from kcli.sandbox.sandbox import Sandbox

    data = settings.data
    async with Sandbox(settings) as running:
        if format == "json":
            facts = {"bootstrap": running.bootstrap, "data": str(data) if data else None}
            if running.registry_url:
                facts["registry"] = running.registry_url
            print(json.dumps(facts), flush=True)
        else:
            where = f"data in {data}" if data else "in memory"
            registry = f", its schema registry on {running.registry_url}" if running.registry_url else ""
            print(f"kcli sandbox listens on {running.bootstrap}{registry} ({where}). Ctrl-C stops it.", flush=True)
            print(f"export KCLI_BOOTSTRAP={running.bootstrap}", file=sys.stderr)
            if running.registry_url:
                print(f"export KCLI_SCHEMA_REGISTRY_URL={running.registry_url}", file=sys.stderr)
            if settings.tls is not None or settings.sasl is not None:
                print(_hint(settings), file=sys.stderr)
        await stop.wait()
    return 0
