"""What replicas take on the disks of each broker (KIP-113, KIP-827)."""

from __future__ import annotations

from collections.abc import Iterable

from kcli import codes
from kcli.asking.fan_out import ask_every
from kcli.errors import BrokerError, KcliError
from kcli.model import Broker, Cluster
from kcli.proto.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from kcli.values import Value, field


class ReplicaSize(Value):
    """A replica in a directory. `size` is in bytes; `offset_lag` is how far it is behind; `future`: it is being moved
    here from another directory of the broker and will replace that one."""

    topic: str = ""
    partition: int = 0
    broker: int = 0
    directory: str = ""
    size: int = 0
    offset_lag: int = 0
    future: bool = False


class LogDir(Value):
    """A directory of a broker. `total` and `usable` are the bytes of its volume, -1 from brokers before 3.3. `error` is
    its failure, such as a broken disk."""

    broker: int = 0
    directory: str = ""
    total: int = -1
    usable: int = -1
    cordoned: bool = False
    replicas: list[ReplicaSize] = field(factory=list)
    error: KcliError | None = None

    @property
    def size(self) -> int:
        """Bytes of all replicas."""
        return sum(replica.size for replica in self.replicas)


async def log_dirs(
    cluster: Cluster,
    topics: dict[str, list[int]] | None = None,
    *,
    brokers: Iterable[int] | None = None,
) -> tuple[list[LogDir], dict[int, KcliError]]:
    """The directories of all brokers or of these, with all replicas or only those of `topics` (name to partitions);
    and the brokers that could not tell. A request per broker."""
    asked = None
    if topics is not None:
        asked = [DescribableLogDirTopic(topic=name, partitions=some) for name, some in topics.items()]
    request = DescribeLogDirsRequest(topics=asked)

    async def ask(broker: Broker) -> DescribeLogDirsResponse:
        answer = await broker.ask(request)
        if answer.error_code:
            raise BrokerError(codes.of(answer.error_code), f"broker {broker.node_id}", api=request.api_key)
        return answer

    wanted = set(brokers) if brokers is not None else {node.id for node in await cluster.nodes()}
    answers, failed = await ask_every(cluster, sorted(wanted), ask)
    return [_log_dir(broker, row) for broker, answer in answers.items() for row in answer.results], failed


def _log_dir(broker: int, row: DescribeLogDirsResult) -> LogDir:
    replicas = [
        ReplicaSize(
            topic=topic.name,
            partition=partition.partition_index,
            broker=broker,
            directory=row.log_dir,
            size=partition.partition_size,
            offset_lag=partition.offset_lag,
            future=partition.is_future_key,
        )
        for topic in row.topics
        for partition in topic.partitions
    ]
    code, api = codes.of(row.error_code), DescribeLogDirsRequest.api_key
    error = BrokerError(code, f"broker {broker}: {row.log_dir}", api=api) if code else None
    return LogDir(
        broker=broker,
        directory=row.log_dir,
        total=row.total_bytes,
        usable=row.usable_bytes,
        cordoned=row.is_cordoned,
        replicas=replicas,
        error=error,
    )
