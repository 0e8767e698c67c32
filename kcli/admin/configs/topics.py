"""Configs of topics for `topics describe`: overrides, without defaults."""

from __future__ import annotations

from kcli import codes
from kcli.admin.configs.resources import Resource, describe_configs, whole_number
from kcli.asking.ask import ask_anyone
from kcli.errors import BrokerError, KcliError
from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.configs.resources import Config
    from kcli.model import Cluster

TOPIC = 2
TOPIC_CONFIG = 1  # the source of a value that was set on the topic itself; all others are inherited
MIN_ISR = "min.insync.replicas"


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


async def min_isr(cluster: Cluster, topics: Iterable[str]) -> dict[str, int | KcliError]:
    """By topic, wherever it is set; an error where it is not known. One request for all topics."""
    answers = await describe_configs(cluster, [Resource("topic", name) for name in topics], names=[MIN_ISR])
    return {at.name: _number(at.name, answer) for at, answer in answers.items()}


def _number(topic: str, configs: list[Config] | KcliError) -> int | KcliError:
    if isinstance(configs, KcliError):
        return configs
    text = next((config.value for config in configs if config.name == MIN_ISR), None)
    if text is None:
        return KcliError(f"{topic}: the broker does not report {MIN_ISR}")
    if (number := whole_number(text)) is None:
        return KcliError(f"{topic}: the broker reports {MIN_ISR}={text[:40]}, which is no number of replicas")
    return number
