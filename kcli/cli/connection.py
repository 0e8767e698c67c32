"""The options every command that talks to a cluster has, and the settings they make.

Priority: flag, then `-X`, then `-F` file, then KCLI_BOOTSTRAP, then Kafka's default (cli.md 6).
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

BOOTSTRAP = Option(
    name="bootstrap",
    flags=("-b", "--bootstrap-server", "--bootstrap-servers", "--brokers"),
    metavar="HOST:PORT,…",
    help="Where the cluster listens. Else KCLI_BOOTSTRAP, else localhost:9092.",
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
QUIET = Option(name="quiet", flags=("-q", "--quiet"), kind="flag", help="Say nothing on stderr but errors.")
VERBOSE = Option(name="verbose", flags=("-v", "--verbose"), kind="flag", help="Say on stderr what was done.")

CONNECTION = (BOOTSTRAP, PROPERTY, CONFIG_FILE, QUIET, VERBOSE)


class Connection:
    """What the connection options of one command line say."""

    def __init__(self, values: Values) -> None:
        self.bootstrap: str | None = values.get("bootstrap")
        self.quiet: bool = bool(values.get("quiet"))
        self.verbose: bool = bool(values.get("verbose"))
        self.properties = _properties(values.get("config_file"), values.get("properties") or [])

    def client(self) -> ClientSettings:
        """Settings to make a Client with. Raises UsageError for an address that is none."""
        from kcli.settings import parse_bootstrap

        text = self.bootstrap or self.properties.bootstrap or from_environment() or "localhost:9092"
        try:
            addresses = parse_bootstrap(text)
        except ValueError as problem:
            raise UsageError(f"--bootstrap-server {text}: {problem}") from problem
        return ClientSettings(bootstrap=addresses).replace(**self.properties.client)


def from_environment() -> str | None:
    """Servers named by the environment; kcli's own name wins."""
    return os.environ.get("KCLI_BOOTSTRAP") or os.environ.get("KCLI_BOOTSTRAP_SERVERS") or None


def _properties(path: str | None, given: list[str]) -> Properties:
    from kcli.cli.properties import Properties, read_properties

    return read_properties(path, given) if path is not None or given else Properties()
