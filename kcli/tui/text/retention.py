"""How long a topic's records are kept, in a word or two, out of its configs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.configs.resources import Resource, describe_configs, whole_number
from kcli.errors import KcliError
from kcli.text.numbers import duration, size
from kcli.tui.text.printable import printable

if TYPE_CHECKING:
    from kcli.admin.configs.resources import Config
    from kcli.client import Client

RETENTION = ("retention.ms", "retention.bytes")
DAY = 86_400_000  # ms


class Kept(NamedTuple):
    """What the configs of a topic say of its records: delete or compact, how long or how many bytes, and all other
    overrides. "" is not known."""

    policy: str = ""
    retention: str = ""
    others: str = ""


async def how_kept(client: Client, topics: list[str]) -> dict[str, Kept]:
    """By topic; those without permission are missing, as all are on a broker that does not tell."""
    try:
        answers = await describe_configs(client.cluster, [Resource("topic", name) for name in topics])
    except KcliError:
        return {}
    return {at.name: kept(answer) for at, answer in answers.items() if not isinstance(answer, KcliError)}


def kept(configs: list[Config]) -> Kept:
    """Of one topic."""
    values = {config.name: config.value for config in configs}
    policy, limits = values.get("cleanup.policy") or "", []
    if "delete" in policy.split(","):
        age, most = (whole_number(values.get(name)) for name in RETENTION)
        limits = ([] if age is None else [_time(age)]) + ([] if most is None else [size(most)]) or ["for ever"]
    others = [
        f"{config.name}={'(secret)' if config.secret else config.value}"
        for config in configs
        if config.source == "topic" and config.name not in ("cleanup.policy", *RETENTION)
    ]
    return Kept(printable(policy), ", ".join(limits), printable(" ".join(others)))


def _time(age: int) -> str:
    """Whole days as days: `7d`."""
    return f"{age // DAY}d" if age and age % DAY == 0 else duration(age / 1000)
