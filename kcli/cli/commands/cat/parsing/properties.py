"""kcat's -X properties and configuration files, as our settings.

Later wins, in kcat's order: -X and -F as they come, then $KCAT_CONFIG or ~/.config/kcat.conf, then -b. A property of
librdkafka that means nothing to kcli is accepted; an unknown one ends the run.
"""

from __future__ import annotations

import os

from kcli.cli.commands.cat.parsing.ranges import check, truth
from kcli.cli.commands.cat.parsing.words import Fatal, say
from kcli.config.properties.known import KNOWN
from kcli.config.properties.merged import Properties
from kcli.config.properties.names import elsewhere
from kcli.errors import UsageError
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from kcli.registry.settings import RegistrySettings
    from kcli.settings import GroupSettings

    class Line(Protocol):
        """What the properties depend on in the rest of the line."""

        mode: str
        brokers: str | None
        group: str
        patience: int
        verbosity: int
        trace: bool


FOREVER = 2**31 / 1000  # seconds: what librdkafka can say at most
MOST_IN_FLIGHT = 5


class Settings:
    """The properties of one command line."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.properties = Properties()
        self.search = True
        self.dump = False
        self._files = 0

    def put(self, name: str, value: str, where: str = "-X") -> None:
        """One property, with kcat's "topic." before it or not. Raises Fatal."""
        if not elsewhere(name):  # topic.metadata.refresh.interval.ms is the whole name
            name = name.removeprefix("topic.")
        check(name, value)
        if name in KNOWN and KNOWN[name][2] == "bool":
            value = truth(value)
        try:
            self.properties.put(name, value, where)
        except UsageError as problem:
            raise Fatal(str(problem)) from None

    def read_file(self, path: str) -> None:
        """Property=value lines. Raises Fatal."""
        level = 1
        self._files += 1
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read().splitlines()
        except OSError as problem:
            raise Fatal(f"Failed to open {path}: {problem.strerror}") from None
        say(self.line.verbosity, level, f"Reading configuration from file {path}")
        for number, given in enumerate(lines, 1):
            text = given.strip().replace("\\:", ":").replace("\\=", "=")
            if not text or text.startswith("#"):
                continue
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise Fatal(f"{path}:{number}: expected property=value")
            self.put(name, value, f"{path}:{number}")

    def files_of_the_environment(self) -> None:
        """$KCAT_CONFIG, $KAFKACAT_CONFIG, else the user's file; none of them after a -F file."""
        if self._files:
            return
        for variable in ("KCAT_CONFIG", "KAFKACAT_CONFIG"):
            path = os.environ.get(variable)
            if path:
                self.read_file(path)
                return
        home = os.environ.get("HOME")
        for name in ("kcat.conf", "kafkacat.conf") if home and self.search else ():
            path = f"{home}/.config/{name}"
            if os.access(path, os.R_OK):
                self.read_file(path)
                return

    def show(self, what: str) -> None:
        """-X list, -X dump."""
        from kcli.cli.commands.cat.parsing.words import Done

        if what == "dump":
            self.dump = True
            return
        from kcli.config.properties.known import SERVERS
        from kcli.config.properties.names import SECURITY

        raise Done("".join(f"{name}\n" for name in sorted({*KNOWN, *SERVERS, *SECURITY})))

    def dumped(self) -> str:
        """What was set, secrets hidden."""
        from kcli.secret import secretive

        given = self.properties.given.items()
        lines = [f"{name} = {'********' if secretive(name) else value}" for name, (value, _) in given]
        return "# Global config\n" + "".join(f"{line}\n" for line in lines) + "\n# Topic config\n\n"

    # -- as settings -------------------------------------------------------------------------------------------------

    def client(self) -> ClientSettings:
        """Raises Fatal."""
        line, properties = self.line, self.properties
        properties.given.setdefault("security.protocol", ("PLAINTEXT", "-X"))  # its other properties are not used
        servers = line.brokers if line.brokers is not None else properties.bootstrap or ""
        try:
            made = ClientSettings(
                bootstrap=parse_bootstrap(servers),
                deadline=max(0.1, float(line.patience)),
                auto_create_topics=line.mode == "P",
                trace="-" if line.trace else "",
                wait_for_cluster=False,
            ).replace(**properties.client)
            made = made.replace(security=properties.security())
        except (UsageError, ValueError) as problem:
            raise Fatal(str(problem)) from None
        for warning in properties.warnings:
            say(line.verbosity, 1, warning)
        return made

    def registry(self) -> RegistrySettings:
        """Where the schemas of -s avro are. Raises Fatal."""
        from kcli.registry.settings import registry_of

        try:
            found = registry_of(self.properties)
        except UsageError as problem:
            raise Fatal(str(problem)) from None
        if found is None:
            raise Fatal("-s avro requires -r URL, the address of the schema registry")
        return found

    def consumer(self) -> ConsumerSettings:
        """librdkafka's defaults where they differ: committed records only, and no position means the end."""
        defaults = ConsumerSettings(isolation="read_committed", reset="latest")
        return defaults.replace(**self.properties.consumer)

    def group(self) -> GroupSettings:
        """The membership; commits are made by us, of what was printed."""
        from kcli.settings import GroupSettings

        try:
            changes = {**self.properties.member(), "auto_commit": False, "group": self.line.group}
        except UsageError as problem:
            raise Fatal(str(problem)) from None
        return GroupSettings(**changes)

    def producer(self) -> ProducerSettings:
        """librdkafka's partitioner, else keys would move to other partitions, and its limits; the rest is ours.
        Raises Fatal."""
        given = self.properties.producer
        changes = {"partitioner": "consistent_random", **given, **self._weaker(given), **_timeouts(given)}
        try:
            return ProducerSettings(**changes).for_command(max_block_given="max_block" in changes)
        except (UsageError, ValueError) as problem:
            raise Fatal(str(problem)) from None

    @staticmethod
    def _weaker(settings: Mapping[str, Any]) -> dict[str, bool]:
        """Idempotence is on where the line asks for it, or sets nothing that excludes it. Raises Fatal."""
        wanted = settings.get("idempotence") or (settings.get("transactional_id") and settings.get("idempotence", True))
        wrong = ""
        if settings.get("acks", -1) != -1:
            wrong = "`acks` must be set to `all` when `enable.idempotence` is true"
        elif settings.get("max_in_flight", 1) > MOST_IN_FLIGHT:
            wrong = f"`max.in.flight` must be set <= {MOST_IN_FLIGHT} when `enable.idempotence` is true"
        elif settings.get("retries", 1) < 1:
            wrong = "`retries` must be set >= 1 when `enable.idempotence` is true"
        if wrong and wanted:
            raise Fatal(wrong)
        return {"idempotence": False} if wrong else {}


def _timeouts(settings: Mapping[str, Any]) -> dict[str, float]:
    """message.timeout.ms is the whole time of a record, whatever the other times are; 0 is no end. Raises Fatal."""
    defaults = ProducerSettings()
    whole = settings.get("delivery_timeout", defaults.delivery_timeout) or FOREVER
    linger = settings.get("linger", min(defaults.linger, whole / 2))
    if linger >= whole:
        raise Fatal("`message.timeout.ms` must be greater than `linger.ms`")
    request = min(settings.get("request_timeout", defaults.request_timeout), whole - linger)
    return {"delivery_timeout": whole, "linger": linger, "request_timeout": request}
