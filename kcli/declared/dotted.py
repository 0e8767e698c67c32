"""Names with dots: TOML makes tables of them when they are written without quotation marks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kcli.config.secrets.sources import KINDS as SOURCES

Map = dict[str, Any]


def dotted(document: Any) -> Iterator[Map]:
    """The maps whose keys have dots: TOML makes tables of such keys when they are written without quotation marks."""
    if not isinstance(document, dict):
        return
    topics, configs, defaults = (document.get(key) for key in ("topics", "configs", "defaults"))
    holders = [*(topics.values() if isinstance(topics, dict) else ()), defaults]
    yield from (
        holder["configs"] for holder in holders if isinstance(holder, dict) and isinstance(holder.get("configs"), dict)
    )
    for names in configs.values() if isinstance(configs, dict) else ():
        yield from (one for one in (names.values() if isinstance(names, dict) else ()) if isinstance(one, dict))


def flatten(of: Map) -> None:
    """`{retention: {ms: 1}}` as `{retention.ms: 1}`, but for what names a secret's place."""
    lines: dict[str, int] = getattr(of, "lines", {})
    again = True
    while again:
        again = False
        for key, value in list(of.items()):
            if isinstance(value, dict) and value and value.keys().isdisjoint(SOURCES):
                del of[key]
                for inner, one in value.items():
                    of[f"{key}.{inner}"] = one
                    lines[f"{key}.{inner}"] = getattr(value, "lines", {}).get(inner, lines.get(key, 1))
                again = True
