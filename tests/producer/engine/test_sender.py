"""The sender of a leader: what happens between its turns."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kcli.producer.engine.sender import LeaderSender


async def test_what_happens_before_a_turn_is_looked_at_though_the_sender_ends_first() -> None:
    draining: Any = SimpleNamespace(node_id=1, mine=list)
    none: Any = None
    seen: list[str] = []
    sender = LeaderSender(draining, none, none, none, none, none, lambda node, problem: seen.append("ended"), none)
    sender.on_unseen = lambda: seen.append("looked")
    sender.wake()
    sender.unseen = True
    sender._settle_in_order()  # the last request was answered, and nothing is left for this leader
    assert seen == ["looked", "ended"]
