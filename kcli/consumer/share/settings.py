"""What a member of a share group (KIP-932) decides; lock times, delivery limits and where to start are the group's."""

from __future__ import annotations

from kcli.text.checked import Checked, flag, number, text


class ShareSettings(Checked):
    """`explicit`: every record handed out has to be acknowledged before the next poll; else the next poll accepts
    them (E64). `max_records` is how many one fetch may acquire, about: whole batches are. With `exact` it is never
    more (brokers from 4.2 on)."""

    group: str = text("", "the name of a group", empty=False)
    explicit: bool = flag(False)
    max_records: int = number(2000, 1)
    exact: bool = flag(False)
    rack: str = text("")
