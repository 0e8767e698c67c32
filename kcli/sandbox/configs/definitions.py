"""What a configuration may be: its type, its default, the values that fit, and a sentence about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from kcli import codes
from kcli.errors import BrokerError

UNKNOWN, BOOLEAN, STRING, INT, SHORT, LONG, DOUBLE, LIST, CLASS, PASSWORD = range(10)
SET, DELETE, APPEND, SUBTRACT = range(4)
TOPIC, BROKER, LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
"""Types of resource."""
BITS = {SHORT: 15, INT: 31, LONG: 63}
LONGEST = str(2**63 - 1)

ABSENT = {
    "4.3": frozenset(
        (
            "consumer.assignor.offload.enable",
            "errors.deadletterqueue.auto.create.topics.enable",
            "errors.deadletterqueue.copy.record.enable",
            "errors.deadletterqueue.group.enable",
            "errors.deadletterqueue.topic.name",
            "errors.deadletterqueue.topic.name.prefix",
            "group.streams.assignors",
            "group.streams.rack.aware.assignment.tags",
            "group.streams.topology.description.plugin.class",
            "log.remote.copy.lag.bytes",
            "log.remote.copy.lag.ms",
            "max.decompressed.message.bytes",
            "remote.copy.lag.bytes",
            "remote.copy.lag.ms",
            "share.assignor.offload.enable",
            "streams.assignor.offload.enable",
            "sasl.oauthbearer.allow.unverified.audience",
            "sasl.oauthbearer.allow.unverified.issuer",
            "streams.assignor.name",
            "streams.rack.aware.assignment.tags",
        )
    )
}
"""Names that an older Kafka does not have."""

Operation = tuple[str, int, str | None]
"""Name, SET…SUBTRACT, value."""


class Definition(NamedTuple):
    """A configuration. `low` and `high` bound a number, `choices` are the words that fit (of a list: each of them),
    `fits` judges what those cannot. `broker` is the broker's configuration that gives the default."""

    kind: int
    default: str
    words: str = ""
    broker: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    fits: Callable[[str], bool] | None = None

    def check(self, name: str, value: str) -> None:
        """Raises ValueError with a sentence for a value that does not fit."""
        if self.kind in BITS or self.kind == DOUBLE:
            self._check_number(name, value)
        elif self.kind == BOOLEAN and value.strip().lower() not in ("true", "false"):
            raise ValueError(f"Invalid value {value} for configuration {name}: expected true or false")
        given = (part.strip() for part in value.split(",") if part) if self.kind == LIST else (value,)
        if self.choices and not set(self.choices).issuperset(given):
            raise ValueError(f"Invalid value {value} for configuration {name}: expected {', '.join(self.choices)}")
        if self.fits is not None and not self.fits(value):
            raise ValueError(f"Invalid value {value} for configuration {name}")

    def _check_number(self, name: str, value: str) -> None:
        try:
            number = float(value) if self.kind == DOUBLE else int(value)
        except ValueError:
            raise ValueError(f"Invalid value {value} for configuration {name}: not a number") from None
        bits = BITS.get(self.kind)
        if bits is not None and not -(1 << bits) <= number < 1 << bits:
            raise ValueError(f"Invalid value {value} for configuration {name}: not a number of {bits + 1} bits")
        if self.low is not None and number < self.low:
            raise ValueError(f"Invalid value {value} for configuration {name}: must be at least {self.low:g}")
        if self.high is not None and number > self.high:
            raise ValueError(f"Invalid value {value} for configuration {name}: must be at most {self.high:g}")


def altered(
    definitions: Mapping[str, Definition], current: Mapping[str, str], operations: Iterable[Operation], of: str
) -> dict[str, str]:
    """`current` with the operations applied. `of` says whose configurations they are. Raises BrokerError
    INVALID_CONFIG."""
    changed = dict(current)
    for name, operation, value in operations:
        definition = definitions.get(name)
        if definition is None:
            raise invalid(f"Unknown {of} config name: {name}")
        if operation == DELETE:
            changed.pop(name, None)
        elif operation == SET or (operation in (APPEND, SUBTRACT) and definition.kind == LIST):
            if operation != SET:
                value = listed(changed.get(name, definition.default), operation, value or "")
            changed[name] = fitting(definition, name, value)
        else:
            raise invalid(f"Can't append or subtract to config key {name} because its type is not LIST.")
    return changed


def fitting(definition: Definition, name: str, value: str | None) -> str:
    """The value, if it may be set. Raises BrokerError INVALID_CONFIG."""
    if value is None:
        raise invalid(f"Null value not supported for {name}")
    try:
        definition.check(name, value)
    except ValueError as wrong:
        raise invalid(str(wrong)) from wrong
    return value


def listed(have: str, operation: int, value: str) -> str:
    """A list with the parts of `value` appended to it or subtracted from it."""
    parts, given = [part for part in have.split(",") if part], [part for part in value.split(",") if part]
    if operation == APPEND:
        return ",".join(parts + [part for part in given if part not in parts])
    return ",".join(part for part in parts if part not in given)


def invalid(words: str) -> BrokerError:
    """INVALID_CONFIG."""
    return BrokerError(codes.INVALID_CONFIG, message=words)
