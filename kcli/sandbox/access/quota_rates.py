"""What clients sent and got lately, and how long they have to be quiet for it: producer_byte_rate and
consumer_byte_rate, each broker for itself, by Kafka's window of eleven samples of a second."""

from __future__ import annotations

from collections.abc import Mapping

Entity = tuple[tuple[str, str | None], ...]  # (kind, name) pairs

SAMPLES = 11  # quota.window.num; the last one is not over yet
PRODUCED, FETCHED = "producer_byte_rate", "consumer_byte_rate"


class Rates:
    """One broker's."""

    def __init__(self) -> None:
        self._samples: dict[tuple[str, str, str], dict[int, float]] = {}  # by key and whose traffic counts together

    def charge(
        self, quotas: Mapping[Entity, Mapping[str, float]], key: str, user: str, client: str, size: float, now: float
    ) -> float:
        """Count bytes at `now` (s); returns the seconds to throttle, 0 for none."""
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
    """The limit in force, and the clients that share it, by Kafka's order of precedence."""
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
