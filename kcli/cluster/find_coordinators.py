"""FindCoordinator in both forms: one key up to version 3, many keys from 4 on (KIP-699)."""

from __future__ import annotations

import asyncio

from kcli.errors import KcliError
from kcli.proto.messages.find_coordinator import Coordinator, FindCoordinatorRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.model import Broker

FIND_COORDINATOR, MANY_KEYS_SINCE = 10, 4


async def find_coordinators(broker: Broker, keys: Sequence[str], kind: int) -> dict[str, Coordinator | KcliError]:
    """Return the coordinator of each key of a kind (0 groups, 1 transactional ids, 2 group:topicId:partition of share
    groups).

    The result is a row, which may have an error code, or with an old broker the error of a single request. Raises
    KcliError.
    """
    _, newest = (await broker.versions()).get(FIND_COORDINATOR, (0, 0))
    if newest >= MANY_KEYS_SINCE:
        answer = await broker.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=list(keys)))
        return {row.key: row for row in answer.coordinators}
    return dict(zip(keys, await asyncio.gather(*(_find(broker, key, kind) for key in keys)), strict=True))


async def _find(broker: Broker, key: str, kind: int) -> Coordinator | KcliError:
    try:
        row = await broker.ask(FindCoordinatorRequest(key=key, key_type=kind))
    except KcliError as error:
        return error
    return Coordinator(
        key=key,
        node_id=row.node_id,
        host=row.host,
        port=row.port,
        error_code=row.error_code,
        error_message=row.error_message,
    )
