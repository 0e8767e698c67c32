"""Partitions that a read leaves out because they have no leader, or because their leader cannot be reached."""

from __future__ import annotations

from kcli.asking.leaders import LEADERLESS_PATIENCE, Leaderless, leaderless
from kcli.cli.output.messages import complain
from kcli.cli.output.text import partition_names
from kcli.errors import KcliError
from kcli.model import TopicPartition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from kcli.cli.output.tables.document import Document
    from kcli.model import Cluster


class LeftOut:
    """The partitions that are left out, with their errors. With `awaited` a read that follows waits for them."""

    def __init__(self) -> None:
        self.errors: dict[TopicPartition, KcliError] = {}
        self.awaited = False

    @property
    def exit_code(self) -> int:
        return int(bool(self.errors) and not self.awaited)

    async def check(
        self, cluster: Cluster, places: Collection[TopicPartition], patience: float
    ) -> list[TopicPartition]:
        """Return the partitions with a leader. Raises KcliError."""
        for at in places:
            self.errors.pop(at, None)
        if not all(cluster.has_leader(at) for at in places):
            self.errors |= await leaderless(cluster, places, min(LEADERLESS_PATIENCE, patience))
        return [at for at in places if at not in self.errors]

    def good(self, answers: dict[TopicPartition, int | KcliError]) -> dict[TopicPartition, int]:
        """Return the offsets among these answers. Raises an error that another leader would not fix."""
        offsets: dict[TopicPartition, int] = {}
        for at, answer in answers.items():
            if not isinstance(answer, KcliError):
                offsets[at] = answer
            elif answer.retriable or isinstance(answer, Leaderless):
                self.errors[at] = answer
            else:
                raise answer
        return offsets

    def sentences(self) -> list[str]:
        """One sentence for each reason, with the names of all partitions."""
        by_reason: dict[str, list[TopicPartition]] = {}
        for at, error in self.errors.items():
            by_reason.setdefault("" if isinstance(error, Leaderless) else str(error), []).append(at)
        return [self._sentence(ats, reason) for reason, ats in by_reason.items()]

    def _sentence(self, ats: list[TopicPartition], reason: str) -> str:
        names, one = partition_names(ats), len(ats) == 1
        subject = f"{names}: {reason}" if reason else f"{names} {'has' if one else 'have'} no leader"
        whose = "its" if one else "their"
        return f"{subject}; {'waiting for one' if self.awaited else f'{whose} records are not read'}"

    def say(self) -> None:
        """Print the sentences on stderr."""
        for sentence in self.sentences():
            complain(sentence)

    def fail(self, document: Document) -> None:
        """Put an error for each partition into a document."""
        for at, error in () if self.awaited else self.errors.items():
            document.fail(error, f"{at.topic} [{at.partition}]")
