"""What `kcli` and `kcli tui` offer where no cluster is named: those of other tools on this machine, and a sandbox."""

from __future__ import annotations

import os
import shlex
import socket

from kcli.cli.commands.config.importing.foreign import FoundCluster, discover
from kcli.cli.commands.config.importing.importing import check_literal
from kcli.cli.commands.config.writing.file import anchor, tables, write
from kcli.cli.commands.config.writing.toml import text_of
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import DEFAULT, Connection
from kcli.config.profiles import profile_names, profile_of, user_file
from kcli.errors import UsageError
from kcli.secret import without_logins
from kcli.text.escape import printable
from kcli.values import Value

LISTENS = 0.5  # seconds that a broker at localhost:9092 has to accept a connection


def is_unnamed(options: ConnectionOptions) -> bool:
    """Whether nothing names a cluster, and none listens where kcli looks for one then. Raises UsageError."""
    if Connection(options, looking=False).servers()[0] != "default":
        return False
    host, _, port = DEFAULT.partition(":")
    try:
        socket.create_connection((host, int(port)), LISTENS).close()
    except OSError:
        return True
    return False


class Offer(Value):
    """Something to open: a profile, a cluster that was `found`, or a sandbox."""

    name: str = ""
    servers: str = ""
    where: str = ""
    is_profile: bool = False
    found: FoundCluster | None = None

    @property
    def usable(self) -> bool:
        return self.found is None or not self.found.problem


def offers() -> list[Offer]:
    """Everything that can be opened, profiles first and a sandbox last. Raises UsageError."""
    rows = [Offer(name=name, where="a profile of kcli", is_profile=True) for name in profile_names()]
    for one in discover():
        servers, where = without_logins(one.cluster.bootstrap), one.problem or f"{one.path} ({one.tool})"
        rows.append(Offer(name=one.cluster.name or one.tool, servers=servers, where=where, found=one))
    return [*rows, Offer(name="a sandbox", where="kcli demo: groups that lag, on this machine")]


def listing() -> str:
    """The lines below the help of `kcli` where no cluster is named; "" where one is."""
    if not is_unnamed(ConnectionOptions()):
        return ""
    known = offers()
    lines = []
    for offer in known[:-1]:
        lines.append(f"  {printable(f'{offer.name}: {offer.servers} {offer.where}')}")
        if offer.is_profile:
            lines.append(f"      --profile {shlex.quote(offer.name)}")
        elif offer.found is not None and offer.usable:
            lines.append(f"      {printable(shlex.join(offer.found.words))}")
    head = "No cluster is set. kcli found:" if lines else "No cluster is set. To look around:"
    return "\n".join([head, *lines, "  a sandbox on this machine: kcli demo", ""])


def _check(one: FoundCluster) -> None:
    """Raises UsageError for a file that would run a command or send a secret of the user: one in the working directory
    may be somebody else's, as a project's profiles may (kcli/config/profiles.py)."""
    if one.tool != "properties":
        if one.tool != "kcat":  # whose file is read as -F is
            check_literal(one.cluster, one.path)
        return
    name = one.cluster.name
    profile = profile_of(name, tables({name: text_of(one.cluster, reveal=True)})[name], os.path.abspath(one.path))
    if key := profile.command or profile.taken:
        raise UsageError(
            f"{one.path}: {key} runs a command or takes a secret from this machine: if you trust the file, use "
            f"-F {shlex.quote(one.path)}"
        )


def use(options: ConnectionOptions, one: FoundCluster) -> None:
    """Let a command line be about a found cluster, as if its options named it. Raises UsageError."""
    _check(one)
    if one.tool in ("kcat", "properties"):
        options.config_file = one.path
        return
    anchor(one.cluster, os.path.dirname(one.path))
    options.bootstrap = one.cluster.bootstrap
    options.properties = [*options.properties, *(f"{key}={value}" for key, value in one.cluster.properties.items())]


def keep(options: ConnectionOptions, one: FoundCluster) -> None:
    """Make a found cluster a profile, the default one, and let the command line be about it. Raises UsageError."""
    _check(one)
    anchor(one.cluster, os.path.dirname(one.path))
    write(user_file(), [one.cluster], force=False, default=one.cluster.name)
    options.profile = one.cluster.name
