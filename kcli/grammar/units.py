"""Numbers with units, such as `10MiB/s` and `50%`. K, M, G are powers of 1000, as in Kafka and for disks; Ki, Mi, Gi
are powers of 1024."""

from __future__ import annotations

from kcli.errors import UsageError

_FACTORS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4, "p": 1000**5}
_FACTORS |= {f"{letter}i": 1024**power for power, letter in enumerate("kmgtp", 1)}


def bytes_of(text: str, about: str) -> float:
    """Return `10485760`, `10MiB`, `10 MB/s`, `1.5GiB` in bytes (or bytes per second). Raises UsageError that begins
    with `about`."""
    plain = text.strip().lower().removesuffix("/s").removesuffix("ps").strip()
    number = plain.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = plain[len(number) :].strip()
    factor = _FACTORS.get(unit) if unit in _FACTORS else _FACTORS.get(unit.removesuffix("b"))
    if factor is None and number:
        raise UsageError(f"{about}: expected a limit such as 10485760, 10MiB or 10MB, not {text!r}")
    return number_of(number, about, text) * (factor or 1)


def number_of(number: str, about: str, text: str | None = None) -> float:
    """Return a finite number that is not negative. Raises UsageError."""
    try:
        value = float(number)
    except ValueError:
        raise UsageError(f"{about}: a limit must be a number, not {text or number!r}") from None
    if not 0 <= value < float("inf"):
        raise UsageError(f"{about}: a limit must be a number of 0 or more, not {text or number!r}")
    return value


def bytes_text(value: float) -> str:
    """Return `10MiB`, `20MB`, `1.5GiB`, `999B`: the shortest form that is exact with at most two decimals."""
    ways = [f"{plain(value)}B"]
    for base, sign in ((1024, "iB"), (1000, "B")):
        for power, letter in enumerate("KMGTP" if base == 1024 else "kMGTP", 1):
            parts = value / base**power
            if parts >= 1 and round(parts, 2) == parts:
                ways.append(f"{plain(parts)}{letter}{sign}")
    return min(ways, key=lambda way: len(way.rstrip("iBkKMGTP")))


def plain(value: float) -> str:
    """Return a number without a trailing `.0`."""
    return str(int(value)) if value == int(value) else repr(value)
