"""Configs of topics for `topics describe`: overrides, without defaults."""

from __future__ import annotations

from kcli import codes
from kcli.asking.ask import ask_anyone
from kcli.errors import BrokerError, KcliError
from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.model import Cluster

TOPIC = 2
TOPIC_CONFIG = 1  # the source of a value that was set on the topic itself; all others are inherited


async def topic_configs(cluster: Cluster, topics: Iterable[str]) -> dict[str, dict[str, str | None] | KcliError]:
    """The overrides of each topic, by name; a secret's value is None. One request for all topics."""
    names = list(dict.fromkeys(topics))
    if not names:
        return {}
    resources = [
        DescribeConfigsResource(resource_type=TOPIC, resource_name=name, configuration_keys=None) for name in names
    ]
    answer = await ask_anyone(cluster, DescribeConfigsRequest(resources=resources))
    configs: dict[str, dict[str, str | None] | KcliError] = {}
    for row in answer.results:
        if row.error_code:
            api, name = DescribeConfigsRequest.api_key, row.resource_name
            configs[name] = BrokerError(codes.of(row.error_code), name, row.error_message, api=api, topic=name)
        else:
            configs[row.resource_name] = {
                c.name: None if c.is_sensitive else c.value
                for c in sorted(row.configs, key=lambda c: c.name)
                if c.config_source == TOPIC_CONFIG
            }
    return configs
