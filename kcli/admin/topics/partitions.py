"""More partitions for a topic, at the controller (C18)."""

from __future__ import annotations

from kcli import codes
from kcli.asking.controller import ask_controller
from kcli.errors import BrokerError, KcliError
from kcli.proto.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from kcli.model import Cluster


async def grow_topics(
    cluster: Cluster, counts: Mapping[str, int], *, dry_run: bool = False
) -> dict[str, KcliError | None]:
    """Raise each topic to that number of partitions, or with `dry_run` let the controller check it. None where it was
    done."""
    if not counts:
        return {}
    topics = [CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in counts.items()]
    request = CreatePartitionsRequest(topics=topics, timeout_ms=30_000, validate_only=dry_run)
    answer = await ask_controller(cluster, request, lambda answer: [row.error_code for row in answer.results])
    errors: dict[str, KcliError | None] = {}
    for row in answer.results:
        code, name = codes.of(row.error_code), row.name
        failed = BrokerError(code, name, row.error_message, api=request.api_key, topic=name) if code else None
        errors[name] = failed
    return {
        name: errors.get(name, KcliError(f"{name}: the broker's response does not contain this topic"))
        for name in counts
    }
