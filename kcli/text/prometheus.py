"""The text format 0.0.4 of Prometheus: metrics with labels, as a page of text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

Labels = tuple[tuple[str, object], ...]
Rows = list[tuple[Labels, float]]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def page(rows: Mapping[str, Rows], described: Mapping[str, str], counters: Collection[str] = ()) -> str:
    """The metrics that have rows, each with its sentence of `described`; all but `counters` are gauges."""
    kinds = {name: "counter" if name in counters else "gauge" for name in rows}
    return "".join(_metric(name, described[name], kinds[name], some) for name, some in rows.items() if some)


def _metric(name: str, sentence: str, kind: str, rows: Iterable[tuple[Labels, float]]) -> str:
    lines = [f"# HELP {name} {sentence}", f"# TYPE {name} {kind}"]
    for labels, value in rows:
        inner = ",".join(f'{label}="{_escaped(str(text))}"' for label, text in labels)
        lines.append(f"{name}{{{inner}}} {value:.15g}" if inner else f"{name} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
