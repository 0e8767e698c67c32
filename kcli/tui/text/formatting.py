"""Numbers as people read them in a narrow column, and statuses as a glyph and a tone. Pure; None is a dash.

A status shows by its glyph and its word, so no screen depends on colours (or on seeing them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.configs import Resource, describe_configs, whole_number
from kcli.admin.groups.groups import progress_of
from kcli.errors import KcliError
from kcli.lag import figures as engine
from kcli.lag.formats.page import STATUSES
from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import share
from kcli.lag.watch import LagSnapshot
from kcli.text.numbers import DASH, duration, size
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.admin.configs import Config
    from kcli.client import Client

GLYPHS = frozenset(glyph for glyph, _ in STATUSES.values())
RETENTION = ("retention.ms", "retention.bytes")
DAY = 86_400_000  # ms
BAR = 15  # cells


def others(snapshot: LagSnapshot) -> list[GroupStanding]:
    """The groups of a snapshot without those in which kcli keeps its own progress."""
    return [group for group in snapshot.groups if progress_of(group.described.group) is None]


def status(word: str) -> tuple[str, str]:
    """The text of a status, its glyph first, and its tone."""
    glyph, tone = STATUSES.get(word, ("?", "dim"))
    return f"{glyph} {word}", tone


def status_of(total: engine.Total) -> tuple[str, str]:
    """The same of a group or a topic, with how many of its partitions have it: "■ STUCK 1 of 2"."""
    glyph, tone = STATUSES.get(total.status, ("?", "dim"))
    return f"{glyph} {share(total.status, total.alike, total.partitions)}", tone


def calm(word: str) -> str:
    """The tone of what is drawn beside a status: that of the status, and dim where all is well."""
    tone = STATUSES.get(word, ("?", "dim"))[1]
    return "dim" if tone == "good" else tone


def between(values: Sequence[float | None], unit: Callable[[float | None], str]) -> str:
    """The smallest and the largest: `31..3,900`; one figure where nothing changed."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, top = unit(min(known)), unit(max(known))
    return low if low == top else f"{low}..{top}"


def exact(value: int | None) -> str:
    """All digits, in groups of three: `1,234,567`."""
    return DASH if value is None else f"{value:,}"


def elapsed(seconds: float) -> str:
    """The same in whole seconds, of what is drawn once a second."""
    return f"{max(round(seconds), 0)}s" if seconds < 60 else duration(seconds)


def age(standing: PartitionFigures | GroupStanding) -> str:
    """How old the first unread record is: `~` by interpolation, `>` at least."""
    sign = "" if standing.time_lag is None or standing.time_lag_exact else ">" if standing.time_lag_least else "~"
    return sign + duration(standing.time_lag)


def moment(milliseconds: int) -> datetime | None:
    """A record's timestamp as a time of the zone here; None for none, and for what is in no calendar: a producer may
    write any number, microseconds say."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000).astimezone() if milliseconds >= 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def dated(when: datetime, timespec: str = "seconds") -> str:
    """`2026-11-21 12:46:18 UTC`; with timespec="milliseconds" also those."""
    return f"{when.replace(tzinfo=None).isoformat(' ', timespec)} {when:%Z}"


def spread(points: Sequence[tuple[float, float | None]], begun: float, ended: float, parts: int) -> list[float | None]:
    """The largest value of each equal part of a time, so that no peak is lost. A part without a point has the value
    before it; there are none before the first point."""
    step = (ended - begun) / parts
    if step <= 0:
        return [value for _, value in points[-1:]]
    within: dict[int, list[float | None]] = {}
    for at, value in points:
        within.setdefault(min(max(int((at - begun) / step), 0), parts - 1), []).append(value)
    found: list[float | None] = []
    last: float | None = None
    for part in range(min(within, default=parts), parts):
        values = within.get(part, [last])
        found.append(max((value for value in values if value is not None), default=None))
        last = values[-1]
    return found


def clocked(at: float, now: float, form: str = "%H:%M:%S") -> str:
    """A time of day of something that happened, with its date where that is not today's."""
    then = datetime.fromtimestamp(at)
    return then.strftime(form if then.date() == datetime.fromtimestamp(now).date() else f"%-d %b {form}")


def bar(share: float) -> str:
    """`share` (0 to 1) in per cent and as a bar, which is half as high as its line: those of two lines do not touch."""
    share = min(max(share, 0.0), 1.0)
    return f"{share:>4.0%} {'▄' * round(share * BAR)}".ljust(BAR + 5)


class Kept(NamedTuple):
    """What the configs of a topic say of its records: delete or compact, how long or how many bytes, and all other
    overrides. "" is not known."""

    policy: str = ""
    retention: str = ""
    others: str = ""


async def how_kept(client: Client, topics: list[str]) -> dict[str, Kept]:
    """By topic; those without permission are missing, as all are on a broker that does not tell."""
    try:
        answers = await describe_configs(client.cluster, [Resource("topic", name) for name in topics])
    except KcliError:
        return {}
    return {at.name: kept(answer) for at, answer in answers.items() if not isinstance(answer, KcliError)}


def kept(configs: list[Config]) -> Kept:
    """Of one topic."""
    values = {config.name: config.value for config in configs}
    policy, limits = values.get("cleanup.policy") or "", []
    if "delete" in policy.split(","):
        age, most = (whole_number(values.get(name)) for name in RETENTION)
        limits = ([] if age is None else [_time(age)]) + ([] if most is None else [size(most)]) or ["for ever"]
    others = [
        f"{config.name}={'(secret)' if config.secret else config.value}"
        for config in configs
        if config.source == "topic"
    ]
    return Kept(printable(policy), ", ".join(limits), printable(" ".join(others)))


def _time(age: int) -> str:
    """Whole days as days: `7d`."""
    return f"{age // DAY}d" if age and age % DAY == 0 else duration(age / 1000)
