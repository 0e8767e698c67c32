"""commitGroup: where a pipeline is, as the committed offsets of a group without members, so that lag tools see it."""

from __future__ import annotations

from collections.abc import Mapping

from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.errors import KcliError
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.pipeline.log import Log


def commit(log: Log, group: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit the next offsets to be read. Raises the error of the first partition that has one."""

    async def ask(client: Client) -> Mapping[TopicPartition, bool | KcliError]:
        wanted = {at: OffsetAndMetadata(offset=offset) for at, offset in offsets.items()}
        return await write_commits(Coordinators(client.cluster), group, wanted)

    for outcome in log.kafka.run(ask).values():
        if isinstance(outcome, KcliError):
            raise outcome
