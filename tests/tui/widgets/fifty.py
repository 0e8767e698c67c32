"""A recording of fifty groups with names of every length and three fates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.groups.rows import Described, Member
from kcli.lag.figures import Sample
from kcli.lag.formats.recording import line
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from pathlib import Path

GROUPS, LOOKS, BEAT = 50, 20, 5.0
BEGUN = 1_795_265_117.0


def name_of(n: int) -> str:
    """From 8 to 70 cells; those of one length differ only at their ends, as groups with an id at the end do."""
    return f"{'service-of-some-department-with-a-long-name-' * 2}"[: n + 8] + f"-{n:02d}{'-3b93ca67' * (n > 30)}"


def fifty(path: Path) -> Path:
    """A recording of fifty groups: every third one has no member, every third does not move, the others keep up."""
    with path.open("w") as lines:
        for look in range(LOOKS):
            groups = []
            for n in range(GROUPS):
                name, reads = name_of(n), bool(n % 3)
                at = [TopicPartition("orders", n)]
                members = [Member(member_id=f"m-{n}", client_id=f"client-{n}", host="/10.0.0.1", assignment=at)] * reads
                group = Described(group=name, type="classic", state="Stable" if reads else "Empty", members=members)
                end = 1_000_000 * (n + 1) + look * 50 * n
                committed = end - 3 if n % 3 == 2 else 1_000_000 * (n + 1) - 12_345
                sample = Sample(
                    group=name, topic="orders", partition=n, committed=committed, end=end, start=0, owned=reads
                )
                groups.append(GroupSnapshot(described=group, samples=[sample]))
            lines.write(line(BEGUN + BEAT * look, Snapshot(groups=groups)))
    return path
