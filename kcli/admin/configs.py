"""Configs of every resource kind: topics, brokers, their loggers, groups, client metrics (KIP-226, 339, 412, 714, 848,
1142).

A broker's own configs are read and changed at that broker. Any broker returns all others, and forwards changes to the
controller.
"""

from __future__ import annotations

import asyncio

from kcli import codes
from kcli.asking.ask import ask_anyone, ask_once
from kcli.errors import BrokerError, KcliError, UnsupportedVersion, UsageError
from kcli.proto.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from kcli.proto.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kcli.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import NamedTuple, TypeVar

    from kcli.model import Cluster
    from kcli.proto.schema import Request

    R = TypeVar("R")
    A = TypeVar("A")
else:
    from collections.abc import Iterable

    from kcli.model import Cluster
    from kcli.values import NamedTuple


class Resource(NamedTuple):
    """A resource with configs: its kind (one of `KINDS`) and name. A broker without a name is the default of all
    brokers."""

    kind: str
    name: str


KINDS = {"topic": 2, "broker": 4, "logger": 8, "client-metrics": 16, "group": 32}
SOURCES = {
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "server.properties",
    5: "default",
    6: "logger",
    7: "client-metrics",
    8: "group",
}
SET_HERE = frozenset(("topic", "broker", "all brokers", "logger", "client-metrics", "group"))
"""Sources of dynamic overrides; all others are inherited."""
TYPES = {1: "boolean", 2: "string", 3: "int", 4: "short", 5: "long", 6: "double", 7: "list", 8: "class", 9: "password"}
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3


class Config(Value):
    """A config. `value` is None for a secret and for an unset config; `source` is its origin (`SOURCES`); `inherited`
    is the value without the override on the resource itself, None if not reported. `documentation` is Kafka's, without
    its HTML."""

    name: str = ""
    value: str | None = None
    source: str = ""
    kind: str = ""
    secret: bool = False
    read_only: bool = False
    inherited: str | None = None
    documentation: str = ""

    @property
    def set_here(self) -> bool:
        """Whether the config is an override, on the resource itself or on what it inherits from, rather than a
        default."""
        return self.source in SET_HERE


def own(at: Resource, config: Config) -> bool:
    """Whether the config was set on this resource itself; topics and brokers can inherit overrides from the brokers."""
    return config.source == ("all brokers" if at == ("broker", "") else at.kind)


def whole_number(text: str | None) -> int | None:
    """Return the number in a config; None if it is negative or not a number, because a broker may send anything."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 20 else None


def foreseen(at: Resource, operation: Operation, old: Config | None) -> tuple[str | None, bool]:
    """Return the value after a change, if known, and whether the change has no effect because it sets the inherited
    value or deletes an override that does not exist."""
    mine = old is not None and own(at, old)
    was = old.value if old is not None else None
    parts = [part for part in (was or "").split(",") if part]
    given = (operation.value or "").split(",")
    new = {
        SET: operation.value,
        DELETE: old.inherited if old is not None and mine else was,
        APPEND: ",".join([*parts, *(part for part in given if part not in parts)]),
        SUBTRACT: ",".join(part for part in parts if part not in given),
    }[operation.how]
    return new, not mine if operation.how == DELETE else mine and new == was


class Operation(Value):
    """A change of a config. `how` is `Operation.SET`, `DELETE` (back to the default), `APPEND` or `SUBTRACT` (for
    lists)."""

    SET, DELETE, APPEND, SUBTRACT = SET, DELETE, APPEND, SUBTRACT

    name: str = ""
    how: int = SET
    value: str | None = None


async def describe_configs(
    cluster: Cluster, resources: Iterable[Resource], *, names: Sequence[str] = (), documentation: bool = False
) -> dict[Resource, list[Config] | KcliError]:
    """Return the configs of each resource by name: all, or only `names`. Sends one request per broker that has to be
    asked itself, and one for all the others."""
    wanted = list(dict.fromkeys(resources))

    def request(some: list[Resource]) -> DescribeConfigsRequest:
        rows = [
            DescribeConfigsResource(
                resource_type=KINDS[resource.kind], resource_name=resource.name, configuration_keys=list(names) or None
            )
            for resource in some
        ]
        return DescribeConfigsRequest(resources=rows, include_synonyms=True, include_documentation=documentation)

    def read(answer: DescribeConfigsResponse) -> dict[Resource, list[Config] | KcliError]:
        configs: dict[Resource, list[Config] | KcliError] = {}
        for row in answer.results:
            at = Resource(_kind(row.resource_type), row.resource_name)
            if row.error_code:
                configs[at] = _refused(DescribeConfigsRequest.api_key, at, row.error_code, row.error_message)
            else:
                configs[at] = sorted((_config(config) for config in row.configs), key=lambda config: config.name)
        return configs

    answers = await _spread(cluster, wanted, request, read)
    return {
        resource: answers.get(resource, KcliError(f"{about(resource)}: the broker's response does not contain it"))
        for resource in wanted
    }


def _config(row: DescribeConfigsResourceResult) -> Config:
    source = SOURCES.get(row.config_source, f"source {row.config_source}")
    below = [synonym for synonym in row.synonyms if SOURCES.get(synonym.source) != source]
    return Config(
        name=row.name,
        value=None if row.is_sensitive else row.value,
        source=source,
        kind=TYPES.get(row.config_type, ""),
        secret=row.is_sensitive,
        read_only=row.read_only,
        inherited=below[0].value if below and not row.is_sensitive else None,
        documentation=_without_html(row.documentation) if row.documentation else "",
    )


def _without_html(text: str) -> str:
    """Return Kafka's documentation as plain text. Only real tags go: names such as `<id>` stay."""
    import html
    import re

    blocks = r"</?(?:br|p|li|ul|ol|pre|table|tbody|thead|tr|td|th|div|h\d)(?:\s[^<>]*)?/?>"
    plain = re.sub(r"</?(?:a|b|code|em|i|span|strong|u)(?:\s[^<>]*)?>", "", re.sub(blocks, " ", text))
    return " ".join(html.unescape(plain).split())


async def alter_configs(
    cluster: Cluster, changes: Mapping[Resource, Sequence[Operation]], *, dry_run: bool = False
) -> dict[Resource, KcliError | None]:
    """Change configs; a resource changes as a whole or not at all. With `dry_run` the broker only validates. The result
    is None on success. No request is sent twice: a lost response is an error."""

    def request(some: list[Resource]) -> IncrementalAlterConfigsRequest:
        rows = [
            AlterConfigsResource(
                resource_type=KINDS[at.kind],
                resource_name=at.name,
                configs=[
                    AlterableConfig(name=operation.name, config_operation=operation.how, value=operation.value)
                    for operation in changes[at]
                ],
            )
            for at in some
        ]
        return IncrementalAlterConfigsRequest(resources=rows, validate_only=dry_run)

    def read(answer: IncrementalAlterConfigsResponse) -> dict[Resource, KcliError | None]:
        errors: dict[Resource, KcliError | None] = {}
        for row in answer.responses:
            at = Resource(_kind(row.resource_type), row.resource_name)
            api, code = IncrementalAlterConfigsRequest.api_key, row.error_code
            errors[at] = _refused(api, at, code, row.error_message) if code else None
        return errors

    answers = await _spread(cluster, list(changes), request, read, once=True)
    return {
        change: answers.get(change, KcliError(f"{about(change)}: the broker's response does not contain it"))
        for change in changes
    }


async def list_resources(cluster: Cluster, kind: str) -> list[str]:
    """Return the names of all resources of a kind that have configs (KIP-1142). Raises UnsupportedVersion from brokers
    before 4.1, except for client-metrics."""
    from kcli.proto.messages.list_config_resources import ListConfigResourcesRequest

    version = (await (await cluster.anyone()).versions()).get(ListConfigResourcesRequest.api_key, (0, 1))[1]
    if version == 0 and kind != "client-metrics":
        raise UnsupportedVersion(f"brokers before Kafka 4.1 do not list the {kind}s that have configs")
    answer = await ask_anyone(cluster, ListConfigResourcesRequest(resource_types=[KINDS[kind]] if version else []))
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), kind, api=ListConfigResourcesRequest.api_key)
    return sorted(
        resource.resource_name for resource in answer.config_resources if resource.resource_type == KINDS[kind]
    )


def resource(kind: str, name: str) -> Resource:
    """Return the resource of a kind and name. Raises UsageError for an unknown kind, and for a broker id that is not a
    number."""
    if kind not in KINDS:
        from kcli.text.suggest import did_you_mean

        raise UsageError(
            f"{kind}: unknown kind of resource; configs belong to a {', '.join(KINDS)}{did_you_mean(kind, KINDS)}"
        )
    if kind in ("broker", "logger") and not name.isdecimal() and not (kind == "broker" and not name):
        raise UsageError(f"{kind} {name}: expected the id of a broker, such as 1")
    return Resource(kind, name)


def _refused(api: int, at: Resource, code: int, message: str | None) -> BrokerError:
    return BrokerError(codes.of(code), about(at), message, api=api, **{at.kind: at.name})


def about(resource: Resource) -> str:
    """Return the text for a resource in a sentence."""
    return "all brokers" if resource == ("broker", "") else f"{resource.kind} {resource.name}"


async def _spread(
    cluster: Cluster,
    resources: list[Resource],
    request: Callable[[list[Resource]], Request[R]],
    read: Callable[[R], dict[Resource, A]],
    *,
    once: bool = False,
) -> dict[Resource, A | KcliError]:
    """Ask each broker about itself and any broker about the rest. If a request fails, all its resources have
    the error."""
    own = [resource for resource in resources if resource.kind in ("broker", "logger") and resource.name]
    places: list[tuple[int | None, list[Resource]]] = [(int(resource.name), [resource]) for resource in own]
    rest = [resource for resource in resources if resource not in own]
    if rest:
        places.append((None, rest))

    async def ask(node: int | None, some: list[Resource]) -> dict[Resource, A | KcliError]:
        try:
            if once:
                broker = await (cluster.anyone() if node is None else cluster.node(node))
                answer = read(await ask_once(broker, request(some)))
                if all(_is_not_controller(outcome) for outcome in answer.values()):
                    # a controller that is not active describes its own configs, but only the active one changes them
                    answer = read(await ask_once(await cluster.controller(), request(some)))
                return dict(answer)
            if node is not None:
                return dict(read(await (await cluster.node(node)).ask(request(some))))
            return dict(read(await ask_anyone(cluster, request(some))))
        except KcliError as error:
            return dict.fromkeys(some, error)

    answers: dict[Resource, A | KcliError] = {}
    for part in await asyncio.gather(*(ask(node, some) for node, some in places)):
        answers |= part
    return answers


def _is_not_controller(outcome: object) -> bool:
    return isinstance(outcome, BrokerError) and outcome.code is codes.NOT_CONTROLLER


def _kind(number: int) -> str:
    return next((kind for kind, key in KINDS.items() if key == number), str(number))


# Topic configs for `topics describe`: overrides, without defaults.


TOPIC = 2
TOPIC_CONFIG = 1  # the source of a value set on the topic itself; others are inherited
MIN_ISR = "min.insync.replicas"


async def topic_configs(cluster: Cluster, topics: Iterable[str]) -> dict[str, dict[str, str | None] | KcliError]:
    """Return the overrides of each topic, by name; a secret's value is None. One request for all topics."""
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
    """Return min.insync.replicas by topic, wherever it is set; an error if unknown. One request for all topics."""
    answers = await describe_configs(cluster, [Resource("topic", name) for name in topics], names=[MIN_ISR])
    return {at.name: _number(at.name, answer) for at, answer in answers.items()}


def _number(topic: str, configs: list[Config] | KcliError) -> int | KcliError:
    if isinstance(configs, KcliError):
        return configs
    text = next((config.value for config in configs if config.name == MIN_ISR), None)
    if text is None:
        return KcliError(f"{topic}: the broker does not report {MIN_ISR}")
    if (number := whole_number(text)) is None:
        return KcliError(f"{topic}: the broker reports {MIN_ISR}={text[:40]}, which is not a number of replicas")
    return number
