"""The glyph of a status and the tone of its colour, on a terminal and in a web page."""

from __future__ import annotations

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
    STALLED,
    STUCK,
    TXN_BLOCKED,
    UNKNOWN,
)

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
"""A status as (glyph, tone). Tones are bad, warn, good and dim; a theme gives them colours."""
