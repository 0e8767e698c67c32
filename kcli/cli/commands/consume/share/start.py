"""Where `consume --share-group` starts: the group's share.auto.offset.reset decides, which --from-beginning sets."""

from __future__ import annotations

from kcli import codes
from kcli.admin.groups.kinds import EARLIEST, LATEST, RESET, ShareStart, share_offsets, share_reset
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import PATIENCE
from kcli.errors import BrokerError, KcliError
from kcli.proto.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.share.plan import SharePlan
    from kcli.model import Cluster, TopicPartition

GROUP, SET = 32, 0


async def say_start_at_end(cluster: Cluster, plan: SharePlan) -> None:
    """Say which topics the group has not read yet and starts at the end."""
    from kcli.cli.output.messages import complain

    known = await _starts(cluster, plan.group)
    if isinstance(known, KcliError):
        return  # joining the group says what is wrong
    fresh = [topic for topic in plan.topics if topic not in _begun(known)]
    if fresh and (await share_reset(cluster, [plan.group]))[plan.group] == LATEST:
        complain(
            f"{plan.group} has not read {', '.join(fresh)} before and starts at the end; --from-beginning starts at "
            "the beginning"
        )


async def _starts(cluster: Cluster, group: str) -> dict[TopicPartition, ShareStart | KcliError] | KcliError:
    """The start of each partition that the group has read; of a group that does not exist, none."""
    known = (await share_offsets(Coordinators(cluster), [group], patience=PATIENCE))[group]
    if isinstance(known, BrokerError) and known.code is codes.GROUP_ID_NOT_FOUND:
        return {}
    return known


def _begun(known: dict[TopicPartition, ShareStart | KcliError]) -> set[str]:
    return {at.topic for at, where in known.items() if isinstance(where, ShareStart) and where.start is not None}


async def start_at_beginning(cluster: Cluster, plan: SharePlan) -> None:
    """Have the group begin at the start of the logs that it has not begun to read. Raises BrokerError."""
    from kcli.cli.output.messages import complain

    known = await _starts(cluster, plan.group)
    begun = _begun(known) if isinstance(known, dict) else set()
    already = sorted(begun.intersection(plan.topics))
    if already and not plan.connection.quiet:
        complain(f"{plan.group} has begun to read {', '.join(already)}: --from-beginning does not move it back")
    if begun.issuperset(plan.topics):
        return
    config = AlterableConfig(name=RESET, config_operation=SET, value=EARLIEST)
    resource = AlterConfigsResource(resource_type=GROUP, resource_name=plan.group, configs=[config])
    answer = await (await cluster.controller()).ask(IncrementalAlterConfigsRequest(resources=[resource]))
    for row in answer.responses:
        if row.error_code:
            raise BrokerError(codes.of(row.error_code), plan.group, row.error_message or None)
    if not plan.connection.quiet:
        complain(f"{plan.group}: {RESET}={EARLIEST} is set, and stays: it is a setting of the group")
