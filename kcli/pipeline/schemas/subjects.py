"""What options say of the subject of keys or values: the strategy that finds it, and the topic."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kcli.errors import UsageError
from kcli.registry.subjects import STRATEGIES, TOPIC, strategy_named


def strategy_of(given: Mapping[str, str], field: str) -> str:
    """The strategy of keys or values (`field`). Raises UsageError."""
    option = f"{field}SubjectStrategy"
    text = given.get(option.lower(), "").strip()
    strategy = strategy_named(text or TOPIC)
    if not strategy:
        raise UsageError(f"option {option} is {', '.join(STRATEGIES[:-1])} or {STRATEGIES[-1]}, not {text}")
    if text and given.get(f"{field}subject", "").strip():
        raise UsageError(f"option {option} finds the subject, and {field}Subject names it: give one of them")
    return strategy


def topic_of(given: Mapping[str, str]) -> str:
    """The one topic that is read or written; "" for several."""
    topics = given.get("subscribe") or given.get("topic") or given.get("path") or ""
    names = [name.strip() for name in topics.split(",") if name.strip()]
    if "assign" in given:
        try:
            names = list(json.loads(given["assign"]))
        except (ValueError, TypeError):
            return ""  # which is refused elsewhere
    return names[0] if len(names) == 1 else ""
