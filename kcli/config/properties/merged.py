"""Merges properties, by their Java and librdkafka names, from a profile, the environment, a file and -X.

An unknown name is refused with the most similar one, because a mistyped setting that is silently ignored costs more
than an error. Names that do not apply to kcli (serializers) are accepted, with a note under -v.
"""

from __future__ import annotations

from kcli.config.properties.known import CLASSIC, CLIENT, CONSUMER, GROUP, KNOWN, PRODUCER, SERVERS, convert
from kcli.errors import UsageError
from kcli.secret import secretive
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings
from kcli.text.checked import LONGEST, REFUSED, SENT, Checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kcli.config.profiles import Profile
    from kcli.config.secrets.secured import Given
    from kcli.security import Security
    from kcli.text.checked import Kind


SETTINGS: dict[str, type[Checked]] = {
    CLIENT: ClientSettings,
    PRODUCER: ProducerSettings,
    CONSUMER: ConsumerSettings,
    GROUP: GroupSettings,
}
ZERO_IS_NO_END = ("message.timeout.ms", "delivery.timeout.ms")
"""In librdkafka 0 means no time limit, which `kcli cat` adopts; elsewhere it is an invalid limit below linger.ms + …"""


class Properties:
    """Fields to replace in each of the settings. `given` is the last value of each name, and its source; `warnings` and
    `notes` (for -v) are about it. Without `looking`, sources are not resolved: nothing is run or read. `withheld` is
    (property, source) of each secret that an untrusted `project`'s profile does not get."""

    def __init__(self, *, looking: bool = True) -> None:
        self.bootstrap: str | None = None
        self.client: dict[str, Any] = {}
        self.producer: dict[str, Any] = {}
        self.consumer: dict[str, Any] = {}
        self.group: dict[str, Any] = {}
        self.given: dict[str, tuple[Given, str]] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self.withheld: list[tuple[str, str]] = []
        self.project: Profile | None = None
        self._looking = looking
        self._secured = False

    def member(self) -> dict[str, Any]:
        """Return the membership's settings. Raises UsageError for settings that group.protocol does not allow."""
        modern = self.group.get("protocol") == "consumer"
        for name in CLASSIC if modern else ("group.remote.assignor",):
            if KNOWN[name][1] in self.group:
                raise UsageError(
                    f"{name} cannot be used with group.protocol=consumer: the group coordinator decides it"
                    if modern
                    else f"{name} requires group.protocol=consumer"
                )
        return self.group

    def security(self) -> Security | None:
        """Return TLS and SASL settings, None for PLAINTEXT. Secrets are resolved now. Raises UsageError."""
        if not self._secured:
            return None
        from kcli.config.secrets.secured import security_of

        if self.project is not None and self._looking:
            self._withhold(self.project)
        return security_of(self.given, self.warnings.append, self.notes.append, looking=self._looking)

    def _withhold(self, project: Profile) -> None:
        """Raise UsageError if a secret is needed that the project's profile does not get."""
        from kcli.config.properties.names import of_a_registry
        from kcli.property_names import TLS

        protocol, _ = self.given.get("security.protocol", ("", ""))
        wanted = str(protocol).strip().upper().split("_")
        for key, where in self.withheld:
            if not of_a_registry(key) and ("SSL" if key in TLS else "SASL") in wanted:
                raise _withheld(where, project)
            self.notes.append(f"{where}: is not given to {project.where}")

    @property
    def names_registry(self) -> bool:
        """Whether a schema registry is configured. Imports nothing, because every command that reads records
        calls it."""
        return "schema.registry.url" in self.given

    def registry(self) -> dict[str, tuple[Given, str]]:
        """Return the properties of a schema registry, without their prefix, in the order given. Raises UsageError if a
        secret is needed that the project's profile does not get."""
        from kcli.config.properties.names import of_a_registry

        found: dict[str, tuple[Given, str]] = {}
        for key, given in self.given.items():
            name = of_a_registry(key)
            if name:
                found.pop(name, None)
                found[name] = given
        if self.project is not None and self._looking and "url" in found:
            for key, where in self.withheld:
                if of_a_registry(key):
                    raise _withheld(where, self.project)
        return found

    def put_from_outside(self, key: str, value: str, where: str) -> None:
        """Like `put`, for a variable or a file of the user. Withholds secrets from an untrusted project."""
        from kcli.config.profiles import gives_secret

        if self.project is not None and gives_secret(key, value):
            self.withheld.append((key, where if key in where else f"{where}: {key}"))
        else:
            self.put(key, value, where)

    def put(self, key: str, value: Given, where: str) -> None:
        """Set a property; a later one wins. `where` begins the UsageError."""
        if isinstance(value, str) and value[:2] == "${":
            from kcli.config.secrets.sources import written

            value = written(value, where) or value
        self.given.pop(key, None)
        self.given[key] = value, where
        known = KNOWN.get(key)
        if known is None and key not in SERVERS:
            self._beside(key, where)
            return
        if not isinstance(value, str):
            if not self._looking:
                return
            value = value.resolve(f"{where}: {key}", self.warnings.append)
        if known is None:
            self.bootstrap = value
            return
        settings, field, unit = known
        converted = convert(key, value, unit, where)
        for name in settings:
            kind = next(f.extra for f in SETTINGS[name].__fields__ if f.name == field)
            if kind.take(converted) is REFUSED and key not in ZERO_IS_NO_END:
                named = where if key in where else f"{where}: {key}"
                raise UsageError(f"{named}: expected {_expected(kind, unit)}")
            getattr(self, name)[field] = converted

    @staticmethod
    def knows(key: str) -> bool:
        """Whether a name is a property of kcli or of other clients."""
        from kcli.config.properties.names import SECURITY, elsewhere, of_a_registry, refusal_of

        known = key in KNOWN or key in SERVERS or key in SECURITY
        return bool(known or of_a_registry(key) or refusal_of(key) or elsewhere(key))

    def _beside(self, key: str, where: str) -> None:
        """Handle a name that is about security, without effect here, or unknown."""
        from kcli.config.properties.names import INSTEAD, REFUSED, SECURITY, elsewhere, of_a_registry, refusal_of

        if key in SECURITY:
            self._secured = True
        elif of_a_registry(key):
            return
        elif name := refusal_of(key):
            named = where if key in where else f"{where}: {key}"
            raise UsageError(f"{named}: {REFUSED[name]}").hinted(INSTEAD.get(name, ""))
        elif elsewhere(key):
            self.notes.append(f"{where}: {key} has no effect in kcli and is ignored")
        else:
            raise UsageError(f"{where}: unknown property {key}{_nearest(key)}")


def read_properties(
    path: str | None,
    given: list[str],
    profile: Profile | None = None,
    environment: list[tuple[str, str, str]] | None = None,
    *,
    named: bool = False,
    looking: bool = True,
    option: str = "property",
) -> Properties:
    """Merge a profile's properties, the environment's (name, property, value), a file's, then those of the command
    line; a profile `named` on the command line overrides the environment. `option` precedes command-line properties in
    messages. Raises UsageError that names the line."""
    properties = Properties(looking=looking)
    properties.project = profile if profile is not None and not profile.trusted else None
    if named:
        _environment(properties, environment or [])
    if profile is not None:
        for key, value in profile.properties:
            properties.put(key, value, profile.where)
        properties.bootstrap = None  # `bootstrap` is its name in a profile
    if not named:
        _environment(properties, environment or [])
    if path is not None:
        from kcli.config.properties.files import lines_of

        for number, key, text in lines_of(path):
            if properties.knows(key) or _nearest(key):
                properties.put_from_outside(key, text, f"{path}:{number}")
            else:  # files of applications have other keys, such as spring.*
                properties.warnings.append(f"{path}:{number}: {key} is not a Kafka property and is ignored")
    for item in given:
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not key:
            shown = f" {key}" if key in KNOWN or secretive(key) else ""  # otherwise it may be a secret
            raise UsageError(f"{option}{shown}: expected KEY=VALUE")
        # an unknown key may be a mistyped secret
        properties.put(key, text, f"{option} {key}={text}" if key in KNOWN else f"{option} {key}")
        if secretive(key) and isinstance(properties.given[key][0], str):
            properties.warnings.append(
                f"{option} {key}: other users of this machine can read command lines; a profile, a properties file "
                f"or KCLI_{key.upper().replace('.', '_')} keeps it private"
            )
    return properties


def _environment(properties: Properties, environment: list[tuple[str, str, str]]) -> None:
    for name, key, text in environment:
        properties.put_from_outside(key, text, name)


def _withheld(where: str, project: Profile) -> UsageError:
    from kcli.config.profiles import trusting

    return UsageError(
        f"{where}: {project.where} gets no secrets from elsewhere: a project's file may {trusting(project)}"
    )


def _expected(kind: Kind, unit: object) -> str:
    """Return what a property accepts, in its own unit."""
    if unit == "ms":
        most = f" and at most {1000 * SENT:.0f}" if kind.take(LONGEST) is REFUSED else ""
        return f"milliseconds, {'more than 0' if kind.take(0) is REFUSED else '0 or more'}{most}"
    return kind.expected


def _nearest(key: str) -> str:
    from kcli.config.properties.names import ELSEWHERE, SECURITY
    from kcli.text.suggest import did_you_mean

    return did_you_mean(key, [*KNOWN, *SERVERS, *SECURITY, *sorted(ELSEWHERE)])
