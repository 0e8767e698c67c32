"""`consume --share-group G --from-beginning`: where a share group begins is a setting that the cluster keeps of it."""

from __future__ import annotations

from kcli import codes
from kcli.admin.groups.kinds import ShareStart, share_offsets
from kcli.asking.coordinators import Coordinators
from kcli.asking.fan_out import PATIENCE
from kcli.errors import BrokerError
from kcli.proto.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.commands.consume.share.plan import SharePlan
    from kcli.model import Cluster

GROUP, SET = 32, 0
SETTING = "share.auto.offset.reset"


async def start_at_beginning(cluster: Cluster, plan: SharePlan) -> None:
    """Have the group begin at the start of the logs that it has not begun to read. Raises BrokerError."""
    from kcli.cli.output.messages import complain

    known = (await share_offsets(Coordinators(cluster), [plan.group], patience=PATIENCE))[plan.group]
    begun = {
        at.topic
        for at, where in (known.items() if isinstance(known, dict) else ())
        if isinstance(where, ShareStart) and where.start is not None
    }
    already = sorted(begun.intersection(plan.topics))
    if already and not plan.connection.quiet:
        complain(f"{plan.group} has begun to read {', '.join(already)}: --from-beginning does not move it back")
    if begun.issuperset(plan.topics):
        return
    config = AlterableConfig(name=SETTING, config_operation=SET, value="earliest")
    resource = AlterConfigsResource(resource_type=GROUP, resource_name=plan.group, configs=[config])
    answer = await (await cluster.controller()).ask(IncrementalAlterConfigsRequest(resources=[resource]))
    for row in answer.responses:
        if row.error_code:
            raise BrokerError(codes.of(row.error_code), plan.group, row.error_message or None)
    if not plan.connection.quiet:
        complain(f"{plan.group}: {SETTING}=earliest is set, and stays: it is a setting of the group")
