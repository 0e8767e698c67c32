"""Every property that is not set, with what holds then."""

from __future__ import annotations

from typing import Any

from kcli.cli.commands.config.rows import PropertyRow
from kcli.config.properties.known import KNOWN
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings

SETTINGS: dict[str, object] = {
    "client": ClientSettings(),
    "producer": ProducerSettings(),
    "consumer": ConsumerSettings(isolation="read_committed"),
    "group": GroupSettings(auto_commit=True),
}


def defaults(named: set[str]) -> list[PropertyRow]:
    """A row for each property that is not set; of two names for one field, the first."""
    done = {(kind, KNOWN[name][1]) for name in named if name in KNOWN for kind in KNOWN[name][0]}
    rows: list[PropertyRow] = []
    for name, (kinds, field, unit) in KNOWN.items():
        if (kinds[0], field) in done:
            continue
        done.update((kind, field) for kind in kinds)
        rows.append(PropertyRow(property=name, value=_text(getattr(SETTINGS[kinds[0]], field), unit), from_="default"))
    return rows


def _text(value: Any, unit: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(unit, dict):
        return next((word for word, meant in unit.items() if meant == value), str(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if unit == "ms":
        return f"{value * 1000:.0f}"
    if unit == "KiB":
        return str(value // 1024)
    return ",".join(value) if isinstance(value, tuple) else str(value)
