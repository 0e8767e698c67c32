"""Values with units: `7d` where Kafka wants milliseconds, `1GiB` where it wants bytes. The name of a config
tells which.

And when two texts are the same value: booleans, numbers, and lists whose order means nothing.
"""

from __future__ import annotations

import re

from kcli.errors import UsageError

TIMES = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
WITH_UNIT = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)(/s)?")
UNORDERED = """
cleanup.policy metrics match leader.replication.throttled.replicas follower.replication.throttled.replicas
""".split()


def plain(name: str, text: str) -> str:
    """The value as Kafka wants it. Raises UsageError for a unit that there is not."""
    match = WITH_UNIT.fullmatch(text.strip())
    if match is None:
        return text
    if re.search(r"(^|[._])ms$", name):
        factor = TIMES.get(match.group(2).lower())
        if factor is None or match.group(3):
            raise UsageError(f"{name}: {text!r} is no time; write 604800000, 7d, 12h, 30m, 45s or 500ms")
        return _whole(float(match.group(1)) * factor, name, text)
    if re.search(r"bytes($|[._])", name) or name.endswith("buffer.size"):
        from kcli.grammar.units import bytes_of

        return _whole(bytes_of(text, name), name, text)
    return text


def _whole(value: float, name: str, text: str) -> str:
    if value != int(value):
        raise UsageError(f"{name}: {text!r} has to be a whole number of {'ms' if name.endswith('ms') else 'bytes'}")
    return str(int(value))


def same(name: str, kind: str, one: str | None, other: str | None) -> bool:
    """Do both texts say the same? `kind` is what the broker calls its type; "" from brokers that do not."""
    if one is None or other is None or one == other:
        return one == other
    if kind == "boolean":
        return one.strip().lower() == other.strip().lower()
    if kind in ("int", "short", "long", "double", ""):
        try:
            return float(one) == float(other) if kind in ("double", "") else int(one) == int(other)
        except ValueError:
            if kind:
                return False
    if kind in ("list", ""):
        mine, theirs = ([part.strip() for part in text.split(",") if part.strip()] for text in (one, other))
        return sorted(mine) == sorted(theirs) if name in UNORDERED else mine == theirs
    return one.strip() == other.strip()
