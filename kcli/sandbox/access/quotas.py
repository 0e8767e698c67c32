"""The sandbox's client quotas, by Kafka's rules. Byte rates are enforced (`Rates`), the others are only stored and
listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any

from kcli import codes
from kcli.errors import BrokerError

Note = Callable[[str, dict[str, Any]], None]

USER, CLIENT, IP = "user", "client-id", "ip"
WHOLE = {"producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"}
CLIENT_KEYS = {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
KEYS = {(CLIENT,): CLIENT_KEYS, (USER,): CLIENT_KEYS, (CLIENT, USER): CLIENT_KEYS, (IP,): {"connection_creation_rate"}}
EXACT, DEFAULT, ANY = 0, 1, 2
Entity = tuple[tuple[str, str | None], ...]  # (kind, name) pairs

SAMPLES = 11  # quota.window.num; the last one is not complete yet
PRODUCED, FETCHED = "producer_byte_rate", "consumer_byte_rate"
LARGEST = 2**63 - 1


class Quotas:
    """Quotas by entity: (kind, name) pairs by kind, None for the default of a kind. `note` records a change in the
    journal."""

    def __init__(self, note: Note) -> None:
        self.by_entity: dict[Entity, dict[str, float]] = {}
        self._note = note
        self._rates: dict[int, Rates] = {}  # by broker

    def alter(
        self, entity: Sequence[tuple[str, str | None]], values: Sequence[tuple[str, float | None]], *, check_only: bool
    ) -> None:
        """Set values, and remove those that are None. Raises BrokerError INVALID_REQUEST; then nothing was done."""
        at = _checked(entity)
        if len({key for key, _ in values}) != len(values):
            raise _refused("Duplicate quota key")
        kept = dict(self.by_entity.get(at, {}))
        for key, value in values:
            if value is None:
                kept.pop(key, None)
                continue
            if key not in KEYS[tuple(kind for kind, _ in at)]:
                raise _refused(f"Invalid configuration key {key}")
            if value <= 0:
                raise _refused(f"Quota {key} must be greater than 0")
            if key in WHOLE and value > LARGEST:
                raise _refused(f"Configuration {key} must be a Long value")
            if key in WHOLE and abs(int(value + 1e-6) - value) > 1e-6:
                raise _refused(f"Configuration {key} must be a Long value")
            kept[key] = value
        if check_only:
            return
        self._note("quota", {"entity": [list(entry) for entry in at], "values": kept})
        self._keep(at, kept)

    def pause(self, node_id: int, principal: str, client_id: str, key: str, size: int) -> int:
        """Return for how many ms a client is throttled after that many bytes to or from a broker."""
        if not self.by_entity:
            return 0
        rates = self._rates.setdefault(node_id, Rates())
        user = principal.partition(":")[2]
        return int(rates.charge(self.by_entity, key, user, client_id, size, monotonic()) * 1000)

    def _keep(self, at: Entity, values: dict[str, float]) -> None:
        if values:
            self.by_entity[at] = values
        else:
            self.by_entity.pop(at, None)

    def restore(self, facts: Iterable[dict[str, Any]]) -> None:
        """Restore the state from the journal."""
        for entry in facts:
            self._keep(tuple((kind, name) for kind, name in entry["entity"]), entry["values"])

    def find(self, filters: Sequence[tuple[str, int, str | None]], strict: bool) -> dict[Entity, dict[str, float]]:
        """Return the quotas of entities that match each (kind, EXACT…ANY, name). Raises BrokerError INVALID_REQUEST."""
        kinds = [kind for kind, _, _ in filters]
        for kind, how, name in filters:
            if not kind:
                raise _refused("Unexpected empty filter component entity type")
            if kind not in (USER, CLIENT, IP):
                raise BrokerError(codes.UNSUPPORTED_VERSION, message=f"Custom entity type '{kind}' not supported")
            if how not in (EXACT, DEFAULT, ANY) or (how == EXACT) != (name is not None):
                raise _refused(f"Unexpected match type {how} with {name!r}")
        if len(set(kinds)) != len(kinds) or (IP in kinds and len(kinds) > 1):
            raise _refused("Duplicate or invalid entity filter components")
        return {
            at: values
            for at, values in self.by_entity.items()
            if all(_matches(dict(at), entry) for entry in filters) and (not strict or len(at) == len(filters))
        }


def _matches(names: dict[str, str | None], entry: tuple[str, int, str | None]) -> bool:
    kind, how, name = entry
    if kind not in names:
        return False
    return how == ANY or names[kind] == (None if how == DEFAULT else name)


def _checked(entity: Sequence[tuple[str, str | None]]) -> Entity:
    """Return the entity in the order of its kinds. Raises BrokerError INVALID_REQUEST for one that Kafka does not
    support."""
    at = tuple(sorted(entity, key=lambda entry: entry[0]))
    if tuple(kind for kind, _ in at) not in KEYS:
        raise _refused("Invalid empty client quota entity" if not at else f"Unhandled client quota entity {dict(at)}")
    for kind, name in at:
        if name == "":
            raise _refused(f"Empty {kind} not supported")
    if at[0][0] == IP and at[0][1] is not None:
        from ipaddress import ip_address

        try:
            if at[0][1] != "localhost":
                ip_address(at[0][1])
        except ValueError:
            raise _refused(f"{at[0][1]} is not a valid IP or resolvable host.") from None
    return at


def _refused(why: str) -> BrokerError:
    return BrokerError(codes.INVALID_REQUEST, message=why)


# The recent traffic of clients, and how long they are throttled for it: producer_byte_rate and consumer_byte_rate, per
# broker, with Kafka's window of eleven samples of a second.
class Rates:
    """The rates of one broker."""

    def __init__(self) -> None:
        self._samples: dict[tuple[str, str, str], dict[int, float]] = {}  # by key and by the clients that share a quota

    def charge(
        self, quotas: Mapping[Entity, Mapping[str, float]], key: str, user: str, client: str, size: float, now: float
    ) -> float:
        """Count bytes at `now` (s); return the seconds to throttle, 0 for none."""
        rule = in_force(quotas, key, user, client)
        if rule is None:
            return 0.0
        limit, whose = rule
        samples = self._samples.setdefault((key, *whose), {})
        samples[int(now)] = samples.get(int(now), 0.0) + size
        for second in [sample for sample in samples if sample <= int(now) - SAMPLES]:
            del samples[second]
        window = SAMPLES - 1 + now - int(now)
        total = sum(samples.values())
        return max(total / limit - window, 0.0) if limit > 0 else window


def in_force(
    quotas: Mapping[Entity, Mapping[str, float]], key: str, user: str, client: str
) -> tuple[float, tuple[str, str]] | None:
    """Return the limit in force, and the clients that share it, by Kafka's order of precedence."""
    places: list[tuple[Entity, tuple[str, str]]] = [
        ((("client-id", client), ("user", user)), (user, client)),
        ((("client-id", None), ("user", user)), (user, client)),
        ((("user", user),), (user, "")),
        ((("client-id", client), ("user", None)), (user, client)),
        ((("client-id", None), ("user", None)), (user, client)),
        ((("user", None),), (user, "")),
        ((("client-id", client),), ("", client)),
        ((("client-id", None),), ("", client)),
    ]
    for entity, whose in places:
        limit = quotas.get(entity, {}).get(key)
        if limit is not None and (client or entity[0][0] == "user"):
            return limit, whose
    return None
