"""The options every command that talks to a cluster has, and the settings they make.

Priority: flag, then `-X`, then `-F` file, then environment, then the profile, then Kafka's default (cli.md 6). A
profile is that of --profile, of KCLI_PROFILE, or the files' default_profile; the last one is left alone where servers
are named otherwise: it is about another cluster. `connection_of` is for commands with a second cluster (`copy`).
"""

from __future__ import annotations

import os

from kcli.cli.option import Option
from kcli.errors import UsageError
from kcli.settings import ClientSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.option import Values
    from kcli.cli.properties import Properties
    from kcli.profiles import Profile

BOOTSTRAP = Option(
    name="bootstrap",
    flags=("-b", "--bootstrap-server", "--bootstrap-servers", "--brokers"),
    metavar="HOST:PORT,…",
    help="Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.",
)
PROPERTY = Option(
    name="properties",
    flags=("-X", "--property"),
    multiple=True,
    metavar="KEY=VALUE",
    help="A Kafka or librdkafka property, such as linger.ms=50. Repeatable.",
)
CONFIG_FILE = Option(
    name="config_file",
    flags=("-F", "--command-config"),
    metavar="FILE",
    help="A .properties file.",
)
PROFILE = Option(
    name="profile",
    flags=("--profile",),
    metavar="NAME",
    help="A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.",
)
CONFIRM = Option(
    name="confirm",
    flags=("--confirm",),
    metavar="PROFILE",
    help="The name of the protected profile with which something may be deleted or altered.",
)
QUIET = Option(name="quiet", flags=("-q", "--quiet"), kind="flag", help="Say nothing on stderr but errors.")
VERBOSE = Option(name="verbose", flags=("-v", "--verbose"), kind="flag", help="Say on stderr what was done.")

CONNECTION = (BOOTSTRAP, PROFILE, PROPERTY, CONFIG_FILE, CONFIRM, QUIET, VERBOSE)


class Connection:
    """What the connection options of one command line say."""

    def __init__(self, values: Values) -> None:
        self.bootstrap: str | None = values.get("bootstrap")
        self.quiet: bool = bool(values.get("quiet"))
        self.verbose: bool = bool(values.get("verbose"))
        self._named = bool(values.get("profile"))
        self._confirmed: str | None = values.get("confirm")
        self.profile = self._profile(values)
        self.properties = _properties(values.get("config_file"), values.get("properties") or [], self.profile)

    def _profile(self, values: Values) -> Profile | None:
        if not self._named and not os.environ.get("KCLI_PROFILE"):
            keys = [item.partition("=")[0].strip() for item in values.get("properties") or []]
            servers = "bootstrap.servers" in keys or "metadata.broker.list" in keys or values.get("config_file")
            if servers or self.bootstrap or from_environment():
                return None
        from kcli.profiles import chosen

        return chosen(values.get("profile"))

    def client(self) -> ClientSettings:
        """Settings to make a Client with. Raises UsageError for an address that is none."""
        from kcli.settings import parse_bootstrap

        where, text = self._servers()
        try:
            addresses = parse_bootstrap(text)
        except ValueError as problem:
            raise UsageError(f"{where} {text}: {problem}") from problem
        made = ClientSettings(bootstrap=addresses).replace(**self.properties.client)
        if self.profile is None or not self.profile.guard:
            return made
        name = self.profile.name
        if self._confirmed is not None and self._confirmed != name:
            raise UsageError(f"--confirm {self._confirmed}: the profile in use is {name}")
        guard = "" if self._confirmed and self.profile.guard == "protected" else self.profile.guard
        return made.replace(guard=guard, profile=name)

    def _servers(self) -> tuple[str, str]:
        """Who names the servers, and how."""
        profile = (self.profile.where, self.profile.bootstrap) if self.profile is not None else ("", None)
        environment = ("KCLI_BOOTSTRAP", from_environment())
        given = "--bootstrap-server"
        last = (profile, environment) if self._named else (environment, profile)
        for where, text in ((given, self.bootstrap), (given, self.properties.bootstrap), *last):
            if text:
                return where, text
        return given, "localhost:9092"


def connection_of(profile: str | None, bootstrap: str | None = None, properties: list[str] | None = None) -> Connection:
    """The Connection of a second cluster of one command line: by profile, by servers, or both; `properties` as -X."""
    return Connection({"profile": profile, "bootstrap": bootstrap, "properties": properties or []})


def from_environment() -> str | None:
    """Servers named by the environment; kcli's own name wins."""
    return os.environ.get("KCLI_BOOTSTRAP") or os.environ.get("KCLI_BOOTSTRAP_SERVERS") or None


def _properties(path: str | None, given: list[str], profile: Profile | None) -> Properties:
    from kcli.cli.properties import Properties, read_properties

    if path is None and not given and profile is None:
        return Properties()
    return read_properties(path, given, profile)
