"""The dashboard on a terminal: frames, the time from a key to what it draws, memory (tests/tui/soak.py, short)."""

from __future__ import annotations

from tests.tui.soak import figures

GROUPS, PARTITIONS, RATE = 1000, 100, 100_000
SECONDS = 20.0


def section() -> str:
    """Its part of the page."""
    lines = "\n".join(f"- {line}" for line in figures(GROUPS, PARTITIONS, RATE, SECONDS))
    return f"\n## The dashboard ({SECONDS:.0f} s each; a minute: `make soak-tui`)\n\n{lines}\n"
