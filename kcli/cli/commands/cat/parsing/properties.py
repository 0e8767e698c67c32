"""kcat's -X properties and configuration files, as our settings.

Later wins, in kcat's order: -X and -F as they come, then $KCAT_CONFIG or ~/.config/kcat.conf, then -b. A property of
librdkafka that means nothing to kcli is accepted; an unknown one ends the run.
"""

from __future__ import annotations

import os

from kcli.cli.commands.cat.parsing.words import Fatal, say
from kcli.config.profiles import refused_command, runs_command
from kcli.config.properties.known import KNOWN
from kcli.config.properties.merged import Properties
from kcli.config.properties.names import elsewhere
from kcli.errors import UsageError
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap
from kcli.system.files import SETTINGS, distrusted, opened, unix_lines, whole

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
INT = 2**31 - 1
RANGES: dict[str, tuple[int, int]] = {
    "acks": (-1, 1000),
    "api.version.fallback.ms": (0, 604_800_000),
    "api.version.request.timeout.ms": (1, 300_000),
    "auto.commit.interval.ms": (10, 86_400_000),
    "batch.num.messages": (1, 1_000_000),
    "batch.size": (1, INT),
    "broker.address.ttl": (0, 86_400_000),
    "compression.level": (-1, 12),
    "connections.max.idle.ms": (0, INT),
    "delivery.timeout.ms": (0, INT),
    "fetch.error.backoff.ms": (0, 300_000),
    "fetch.max.bytes": (0, 2_147_483_135),
    "fetch.message.max.bytes": (1, 1_000_000_000),
    "fetch.min.bytes": (1, 100_000_000),
    "fetch.wait.max.ms": (0, 300_000),
    "heartbeat.interval.ms": (1, 3_600_000),
    "linger.ms": (0, 900_000),
    "log_level": (0, 7),
    "max.in.flight": (1, 1_000_000),
    "max.in.flight.requests.per.connection": (1, 1_000_000),
    "max.partition.fetch.bytes": (1, 1_000_000_000),
    "max.poll.interval.ms": (1, 86_400_000),
    "message.copy.max.bytes": (0, 1_000_000_000),
    "message.max.bytes": (1000, 1_000_000_000),
    "message.send.max.retries": (0, INT),
    "message.timeout.ms": (0, INT),
    "metadata.max.age.ms": (1, 86_400_000),
    "queue.buffering.backpressure.threshold": (1, 1_000_000),
    "queue.buffering.max.kbytes": (1, INT),
    "queue.buffering.max.messages": (0, INT),
    "queue.buffering.max.ms": (0, 900_000),
    "queued.max.messages.kbytes": (1, 2_097_151),
    "queued.min.messages": (1, 10_000_000),
    "receive.message.max.bytes": (1000, INT),
    "reconnect.backoff.max.ms": (0, 3_600_000),
    "reconnect.backoff.ms": (0, 3_600_000),
    "request.required.acks": (-1, 1000),
    "request.timeout.ms": (1, 900_000),
    "retries": (0, INT),
    "retry.backoff.ms": (1, 300_000),
    "session.timeout.ms": (1, 3_600_000),
    "socket.connection.setup.timeout.ms": (1000, INT),
    "socket.max.fails": (0, 1_000_000),
    "socket.receive.buffer.bytes": (0, 100_000_000),
    "socket.send.buffer.bytes": (0, 100_000_000),
    "socket.timeout.ms": (10, 300_000),
    "statistics.interval.ms": (0, 86_400_000),
    "sticky.partitioning.linger.ms": (0, 900_000),
    "topic.metadata.propagation.max.ms": (0, 3_600_000),
    "topic.metadata.refresh.fast.cnt": (0, 1000),
    "topic.metadata.refresh.fast.interval.ms": (1, 60_000),
    "topic.metadata.refresh.interval.ms": (-1, 3_600_000),
    "transaction.timeout.ms": (1000, INT),
}
TRUE, FALSE = ("true", "t", "1"), ("false", "f", "0")


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
            with opened(path) as file:
                data, distrust = whole(file, SETTINGS), distrusted(path, file)
        except OSError as problem:
            raise Fatal(f"Failed to open {path}: {problem.strerror}") from None
        say(self.line.verbosity, level, f"Reading configuration from file {path}")
        for number, given in enumerate(unix_lines(data.decode("utf-8", "surrogateescape")).splitlines(), 1):
            text = given.strip().replace("\\:", ":").replace("\\=", "=")
            if not text or text.startswith("#"):
                continue
            name, equals, value = text.partition("=")
            if not equals or not name:
                raise Fatal(f"{path}:{number}: expected property=value")
            if distrust and runs_command(name, value):
                raise Fatal(str(refused_command(f"{path}:{number}", name, path, distrust)))
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


def check(name: str, value: str) -> None:
    """Raises Fatal for a number that is outside of what there may be."""
    allowed = RANGES.get(name)
    if allowed is None:
        return
    try:
        number = float(value)
    except ValueError:
        return  # whoever makes a setting of it says so, or it is a word, as in acks=all
    if not allowed[0] <= number <= allowed[1]:
        raise Fatal(
            f'Configuration property "{name}" value {value} is outside allowed range {allowed[0]}..{allowed[1]}'
        )


def truth(value: str) -> str:
    """librdkafka's ways to say true and false as ours; anything else as it is."""
    text = value.lower()
    return "true" if text in TRUE else "false" if text in FALSE else value
