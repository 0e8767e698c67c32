"""A recording as a single web page that replays it, for people with a browser and without kcli.

The page (page.html) contains its script, style and data, and loads nothing: its policy allows only that script, by hash
(Content Security Policy, level 2). Names come from a cluster and are not trusted: the data are JSON without any `<`,
and the script writes text, never markup.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from kcli.lag.history import GroupStanding
from kcli.lag.partition_lag import PartitionFigures
from kcli.lag.status import (
    BEHIND,
    GROWING,
    IDLE,
    LOSING_DATA,
    NO_COMMIT,
    OK,
    ORPHANED,
    PAST_END,
    REWOUND,
    SEVERITY,
    STALLED,
    STUCK,
    TXN_BLOCKED,
    UNKNOWN,
)
from kcli.lag.watch import LagSnapshot

Moment = dict[str, tuple[list[Any], dict[str, list[Any]]]]

TEMPLATE = Path(__file__).with_name("page.html")
MOMENTS = 720
"""Moments in a page: an hour of refreshes every 5 s. A longer recording is thinned evenly."""
ROWS = 300_000
"""Partition rows in a page, about 10 MB; with many partitions it has fewer moments."""
EVENTS = 5000


class Page:
    """Collects snapshots, oldest first. `title` names the recording."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._times: list[float] = []
        self._moments: list[Moment] = []
        self._groups: dict[str, list[Any]] = {}
        self._events: list[list[Any]] = []
        self.seen = 0  # number of snapshots

    @property
    def moments(self) -> int:
        """How many of the snapshots the page shows."""
        return len(self._kept())

    def add(self, snapshot: LagSnapshot) -> None:
        """Add the next snapshot."""
        self.seen += 1
        self._times.append(round(snapshot.time, 3))
        self._moments.append({group.described.group: _group(group) for group in snapshot.groups})
        for group in snapshot.groups:
            self._groups[group.described.group] = [group.described.type, group.described.coordinator]
        self._events += [[round(event.time, 3), event.group, event.text] for event in snapshot.events]
        del self._events[:-EVENTS]

    def html(self) -> str:
        """Return the page. Raises OSError if the template is not installed."""
        template = TEMPLATE.read_text(encoding="utf-8")
        script = template.partition("<script>")[2].partition("</script>")[0]
        allowed = b64encode(sha256(script.encode()).digest()).decode()
        data = json.dumps(self._data(), ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
        return (
            template.replace("SCRIPT_HASH", allowed)
            .replace("PAGE_TITLE", escape(self._title))
            .replace('"PAGE_DATA"', data)
        )

    def _kept(self) -> Sequence[int]:
        """Return the indexes of the snapshots in the page, including the first and the last."""
        rows = sum(len(partitions) for moment in self._moments[-1:] for _, partitions in moment.values())
        most = max(2, min(MOMENTS, ROWS // max(rows, 1)))
        last = len(self._moments) - 1
        if last < most:
            return range(last + 1)
        return [round(number * last / (most - 1)) for number in range(most)]

    def _data(self) -> dict[str, Any]:
        kept = self._kept()
        nothing: tuple[list[Any], dict[str, list[Any]]] = ([], {})
        partitions = {
            name: list(dict.fromkeys(at for number in kept for at in self._moments[number].get(name, nothing)[1]))
            for name in self._groups
        }
        return {
            "title": self._title,
            "statuses": [[status, *STATUSES[status]] for status in SEVERITY],
            "times": [self._times[number] for number in kept],
            "groups": {
                name: {
                    "about": about,
                    "rows": [self._moments[number].get(name, (None,))[0] for number in kept],
                    "partitions": {
                        at: [_part(self._moments[number], name, at) for number in kept] for at in partitions[name]
                    },
                }
                for name, about in sorted(self._groups.items())
            },
            "events": self._events,
        }


def _part(moment: Moment, name: str, at: str) -> list[Any] | None:
    group = moment.get(name)
    return group[1].get(at) if group is not None else None


def _group(group: GroupStanding) -> tuple[list[Any], dict[str, list[Any]]]:
    """Return a group's row (status, partitions with it, partitions, lag, offsets in and out per second, ETA, time lag,
    state, members, partitions with unknown lag), and the row of each partition."""
    total = group.total
    row = [
        *(SEVERITY.index(group.status), total.alike, total.partitions, total.lag),
        *map(_rounded, (group.in_rate, group.out_rate, group.eta, group.time_lag)),
        *(group.described.state, len(group.described.members), total.unknown),
    ]
    samples = ((part, part.lag.sample) for part in group.partitions)
    return row, {f"{sample.topic}[{sample.partition}]": _partition(part) for part, sample in samples}


def _partition(part: PartitionFigures) -> list[Any]:
    """Return status, lag, committed, end, offsets in and out per second, and the owning client."""
    sample = part.lag.sample
    rates = map(_rounded, (part.in_rate, part.out_rate))
    return [SEVERITY.index(part.status), part.lag.lag, sample.committed, sample.end, *rates, sample.client_id]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


# The symbol of a status and the tone of its colour, on a terminal and in a web page.


STATUSES = {
    LOSING_DATA: ("✖", "bad"),
    ORPHANED: ("◌", "bad"),
    STUCK: ("■", "bad"),
    PAST_END: ("»", "bad"),
    GROWING: ("▲", "bad"),
    TXN_BLOCKED: ("◊", "warn"),
    STALLED: ("▪", "warn"),
    REWOUND: ("↺", "warn"),
    BEHIND: ("▸", "warn"),
    NO_COMMIT: ("○", "dim"),
    UNKNOWN: ("?", "dim"),
    OK: ("●", "good"),
    IDLE: ("·", "dim"),
}
"""A status as (symbol, tone). Tones are bad, warn, good and dim; a theme gives them colours."""
