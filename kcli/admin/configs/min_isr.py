"""min.insync.replicas of topics: the replicas in sync that a write with acks=all needs."""

from __future__ import annotations

from kcli.admin.configs.resources import Resource, describe_configs, whole_number
from kcli.errors import KcliError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kcli.admin.configs.resources import Config
    from kcli.model import Cluster

MIN_ISR = "min.insync.replicas"


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
