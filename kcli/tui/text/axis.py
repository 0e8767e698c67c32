"""The figures and clock times of a plot's axes. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

NICE = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
SECONDS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
"""Steps that a clock has."""
ROOM = 14  # cells for a time of day on the axis, with what is between


class Tick(NamedTuple):
    """`at` is seconds since the epoch."""

    at: float
    label: str


def step(most: float, lines: int, *, seconds: bool = False, whole: bool = True) -> float:
    """The distance of `lines` gridlines above 0, in round figures, so that the highest is at `most` or just above.
    `seconds`: steps of a clock, not of ten; `whole`: no fractions."""
    least = most / lines
    if seconds and least <= SECONDS[-1]:
        return next(one for one in SECONDS if one >= least)
    if seconds:
        return -(-least // SECONDS[-1]) * SECONDS[-1]
    scale = 1e-3
    while True:
        for nice in NICE:
            if (one := nice * scale) >= least * (1 - 1e-9) and (not whole or one == int(one)):
                return one
        scale *= 10


def ticks(begun: float, ended: float, cells: int) -> list[Tick]:
    """Round times of day between two moments, as many as there is room for, and a day's date at midnight."""
    span = ended - begun
    if span <= 0 or cells < ROOM:
        return []
    days = -(-(span * ROOM) // (cells * 86400)) * 86400
    each = next((float(one) for one in SECONDS if cells * one / span >= ROOM), days)
    offset = datetime.fromtimestamp(ended).astimezone().utcoffset()
    zone = offset.total_seconds() if offset is not None else 0.0
    at = -(-(begun + zone) // each) * each - zone
    found = []
    while at <= ended:
        found.append(Tick(at, clock(at, short=each >= 60)))
        at += each
    return found


def clock(at: float, *, short: bool = False) -> str:
    """`12:46:30`, `12:46`; the first minute of a day is its date."""
    then = datetime.fromtimestamp(at)
    if short and (then.hour, then.minute) == (0, 0):
        return f"{then:%d %b}"
    return f"{then:%H:%M}" if short else f"{then:%H:%M:%S}"
