"""Settings of a share group's member (KIP-932); lock durations, delivery limits and the start position belong to the
group."""

from __future__ import annotations

from kcli.text.checked import Checked, flag, number, text


class ShareSettings(Checked):
    """`explicit`: every returned record has to be acknowledged before the next poll; otherwise the next poll accepts
    them.

    `max_records` is roughly how many records one fetch may acquire, because whole batches are acquired. With `exact` it
    is never more (brokers from 4.2 on).
    """

    group: str = text("", "the name of a group", empty=False)
    explicit: bool = flag(False)
    max_records: int = number(2000, 1)
    exact: bool = flag(False)
    rack: str = text("")
