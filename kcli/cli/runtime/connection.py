"""The settings that the connection options of a command line make.

Priority: flag, then `-X`, then `-F` file, then environment, then the profile, then Kafka's default; a
profile named by a flag goes before the environment. A profile is that of --profile, of KCLI_PROFILE, or the files'
default_profile; the last one is left alone where servers are named otherwise: it is about another cluster.
`connection_of` is for commands with a second cluster (`copy`).
"""

from __future__ import annotations

import os

from kcli import cli
from kcli.cli.parsing.groups import ConnectionOptions, ControllerOptions
from kcli.errors import UsageError
from kcli.settings import ClientSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.config.profiles import Profile
    from kcli.config.properties.merged import Properties
    from kcli.registry.settings import RegistrySettings
    from kcli.security import Security
    from kcli.settings import ConsumerSettings


DEFAULT = "localhost:9092"
"""Where the cluster is when nothing names one."""
UNNAMED = (
    "no cluster is set: use -b HOST:PORT, KCLI_BOOTSTRAP or `kcli config add`, or start one with `kcli sandbox`; "
    "`kcli` lists those found on this machine"
)


class Connection:
    """What the connection options of one command line say."""

    def __init__(self, options: ConnectionOptions, *, looking: bool = True, profile: Profile | None = None) -> None:
        """`profile` is used as if --profile named it."""
        self.bootstrap: str | None = options.bootstrap
        self.controllers = options.bootstrap_controller if isinstance(options, ControllerOptions) else None
        if self.bootstrap and self.controllers:
            raise UsageError("--bootstrap-server and --bootstrap-controller cannot be combined")
        self.quiet: bool = options.quiet
        self.verbose: bool = options.verbose
        self._named = bool(options.profile) or profile is not None
        self._confirmed: str | None = options.confirm
        self.trace: str = options.trace_file or ("-" if options.trace else "")
        self._mapped: list[str] = options.broker_map
        self._remarks: list[str] = []
        self.profile = profile or self._profile(options)
        self.properties = self._properties(options, looking)
        if self.profile is not None and self.profile.project and self.servers()[0] == self.profile.where:
            self._remarks.append(self.profile.choice)

    def _profile(self, options: ConnectionOptions) -> Profile | None:
        if not self._named and not os.environ.get("KCLI_PROFILE"):
            keys = [item.partition("=")[0].strip() for item in options.properties]
            servers = "bootstrap.servers" in keys or "metadata.broker.list" in keys or options.config_file
            if servers or self.bootstrap or _servers_of_environment():
                return None
        from kcli.config.profiles import chosen, not_read

        found = chosen(options.profile)
        if ignored := not_read(above=self.profile_from == "default_profile"):
            self._remarks.append(ignored)
        return found

    def _properties(self, options: ConnectionOptions, looking: bool) -> Properties:
        path, given = options.config_file, options.properties
        environment = None
        if any(name.startswith("KCLI_") for name in os.environ):
            from kcli.config.properties.files import properties

            environment = properties()
        from kcli.config.properties.merged import Properties, read_properties

        if path is None and not given and self.profile is None and not environment:
            return Properties()
        return read_properties(path, given, self.profile, environment, named=self._named, looking=looking, option="-X")

    def client(self) -> ClientSettings:
        """Settings to make a Client with; secrets are looked up. Prints the notes about the configuration once.
        Raises UsageError for contradictions."""
        from kcli.settings import parse_bootstrap

        where, text = self.servers()
        try:
            addresses = parse_bootstrap(text)
        except ValueError as problem:
            from kcli.secret import without_logins

            raise UsageError(f"{where} {without_logins(text)}: {problem}") from None
        hint = f"{UNNAMED}; `kcli doctor` explains" if where == "default" else ""
        made = ClientSettings(
            bootstrap=addresses,
            controllers=self.controllers is not None,
            trace=self.trace,
            hint=hint,
            wait_for_cluster=False,
        )
        made = made.replace(**self.properties.client)
        security = self.properties.security()
        cli.user = _user(security)
        if security is not None:
            self.properties.warnings.extend(security.warnings())
        made = made.replace(security=security, broker_map=tuple((one, to) for one, to, _ in self.mapping()))
        self._say()
        if self.profile is None or not self.profile.guard:
            return made
        name = self.profile.name
        if self._confirmed is not None and self._confirmed != name:
            raise UsageError(f"--confirm {self._confirmed}: the profile in use is {name}")
        guard = "" if self._confirmed and self.profile.guard == "protected" else self.profile.guard
        if guard == "read_only":
            made = made.replace(auto_create_topics=False)
        return made.replace(guard=guard, profile=name)

    def consumer(self) -> ConsumerSettings:
        """Settings to read records with: committed ones only, unless a property says otherwise, as kcat does."""
        from kcli.settings import ConsumerSettings

        return ConsumerSettings(isolation="read_committed").replace(**self.properties.consumer)

    def registry(self, url: str | None = None) -> RegistrySettings | None:
        """The schema registry: `url`, else what a property names; None without either. Raises UsageError."""
        if url is not None:
            if not url:
                raise UsageError("--schema-registry is empty; write --schema-registry https://HOST:PORT")
            self.properties.put("schema.registry.url", url, "--schema-registry")
        elif not self.properties.names_registry:
            return None
        from kcli.registry.settings import registry_of

        return registry_of(self.properties)

    @property
    def profile_from(self) -> str:
        """Where the profile's name comes from."""
        return "--profile" if self._named else "KCLI_PROFILE" if os.environ.get("KCLI_PROFILE") else "default_profile"

    def mapping(self) -> list[tuple[str, str, str]]:
        """(FROM, TO, source); the first that fits counts: the command line's, the environment's, the profile's."""
        named = os.environ.get("KCLI_BROKER_MAP")
        profile = [(item, self.profile.where) for item in self.profile.broker_map] if self.profile is not None else []
        items = [(item, "--broker-map") for item in self._mapped]
        items += [(item, "KCLI_BROKER_MAP") for item in (named or "").split(",") if item.strip()] + profile
        if not items:
            return []
        from kcli.config.properties.broker_map import pair

        return [(*pair(item, where), where) for item, where in items]

    def _say(self) -> None:
        warnings, self.properties.warnings = self.properties.warnings, []
        notes, self.properties.notes = self.properties.notes, []
        if self.profile is not None:
            warnings = [*self.profile.warnings, *warnings]
        warnings, self._remarks = [*self._remarks, *warnings], []
        told = [*([] if self.quiet else warnings), *(notes if self.verbose else [])]
        if told:
            from kcli.cli.output.messages import complain

            for line in dict.fromkeys(told):
                complain(line)

    def servers(self) -> tuple[str, str]:
        """Where the servers' names come from."""
        if self.controllers is not None:
            return "--bootstrap-controller", self.controllers
        profile = (self.profile.where, self.profile.bootstrap) if self.profile is not None else ("", None)
        environment = _servers_of_environment() or ("", None)
        given = "--bootstrap-server"
        last = (profile, environment) if self._named else (environment, profile)
        for where, text in ((given, self.bootstrap), (given, self.properties.bootstrap), *last):
            if text:
                return where, text
        return "default", DEFAULT


def connection_of(profile: str | None, bootstrap: str | None = None, properties: list[str] | None = None) -> Connection:
    """The Connection of a second cluster of one command line: by profile, by servers, or both; `properties` as -X."""
    return Connection(ConnectionOptions(profile=profile, bootstrap=bootstrap, properties=properties or []))


def _user(security: Security | None) -> str:
    """The name in the principal of this client; empty where only the brokers know it."""
    if security is None or security.sasl is None:
        tls = security.tls if security is not None else None
        return "" if tls is not None and (tls.certificate or tls.certificate_pem or tls.keystore) else "ANONYMOUS"
    return "" if security.sasl.delegation_token else security.sasl.username


def _servers_of_environment() -> tuple[str, str] | None:
    """(variable, servers): kcli's own name wins."""
    for name in ("KCLI_BOOTSTRAP", "KCLI_BOOTSTRAP_SERVERS"):
        if os.environ.get(name):
            return name, os.environ[name]
    return None
