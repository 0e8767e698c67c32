"""`Client({"bootstrap.servers": …})`: Kafka's property names as settings of a client and of its producers and
consumers."""

from __future__ import annotations

from kcli.config.properties.merged import Properties
from kcli.errors import UsageError
from kcli.settings import ClientSettings, ConsumerSettings, GroupSettings, ProducerSettings, parse_bootstrap
from kcli.text.log import Log
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WHERE = "property"
log = Log("client")


class Defaults(Frozen):
    """Default settings for the producers and consumers of a client. `group` has no name without `group.id`."""

    producer: ProducerSettings = ProducerSettings()
    consumer: ConsumerSettings = ConsumerSettings()
    group: GroupSettings = GroupSettings()


def of_properties(given: Mapping[str, object]) -> tuple[ClientSettings, Defaults, Properties]:
    """Return the settings in the properties, and the properties. Those without effect are logged. Raises UsageError."""
    properties = Properties()
    for key, value in given.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        properties.put(str(key), text, f"{WHERE} {key}")
    if properties.bootstrap is None:
        raise UsageError("property bootstrap.servers is missing: it names the brokers, such as localhost:9092")
    try:
        addresses = parse_bootstrap(properties.bootstrap)
    except UsageError as problem:
        raise UsageError(f"property bootstrap.servers: {problem}") from None
    security = properties.security()
    if security is not None:
        properties.warnings.extend(security.warnings())
    client = ClientSettings(bootstrap=addresses, security=security).replace(**properties.client)
    defaults = Defaults(
        producer=ProducerSettings(**properties.producer),
        consumer=ConsumerSettings(**properties.consumer),
        group=GroupSettings(**properties.member()),
    )
    for line in (*properties.warnings, *properties.notes):
        log.warning("%s", line)
    return client, defaults, properties
