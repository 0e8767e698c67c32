"""The cluster and its settings: `context` (a profile) and `kafka.*` options, resolved once on the driver, which has the
secrets; tasks get sealed settings. An explicit option overrides the profile."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kcli.config.profiles import Profile
from kcli.config.properties.merged import Properties
from kcli.errors import UsageError
from kcli.model import Address
from kcli.settings import ClientSettings, ConsumerSettings, ProducerSettings, parse_bootstrap
from kcli.values import Frozen

if TYPE_CHECKING:
    from kcli.registry.settings import RegistrySettings

REGISTRY = "schema.registry."
REFUSED = {
    "kafka.auto.offset.reset": "use startingOffsets",
    "kafka.enable.auto.commit": "Spark keeps the offsets; commitGroup shows them to others",
    "kafka.interceptor.classes": "classes of Java mean nothing here",
    "kafka.key.deserializer": "use keyFormat",
    "kafka.value.deserializer": "use valueFormat",
    "kafka.key.serializer": "keys are strings or binary",
    "kafka.value.serializer": "values are strings or binary",
    "kafka.transactional.id": "a task may run twice; it cannot own a transactional id of yours",
}


class Sealed(Frozen):
    """The settings of a cluster's client. The repr shows no secrets; the pickle contains them, because every task needs
    them."""

    client: ClientSettings = ClientSettings()
    consumer: ConsumerSettings = ConsumerSettings()
    producer: ProducerSettings = ProducerSettings()

    def __repr__(self) -> str:
        return f"<cluster {self.servers}>"

    @property
    def servers(self) -> str:
        """The servers, for messages."""
        return ",".join(f"{address.host}:{address.port}" for address in self.client.bootstrap)

    def __reduce__(self) -> tuple[Callable[[bytes], Sealed], tuple[bytes]]:
        return opened, (pickle.dumps(plain(self)),)


def sealed_of(options: Mapping[str, str], say: Callable[[str], None] | None = None) -> Sealed:
    """Return the settings of a read or write from its options, whose names are in lower case. `say` is called with
    warnings: a property without effect, a disabled check. Raises UsageError."""
    from kcli.config.profiles import chosen, not_read

    named = options.get("context")
    given = {key[len("kafka.") :]: text for key, text in options.items() if key.startswith("kafka.")}
    if given.pop("group.id", None) is not None and say is not None:
        say(
            "option kafka.group.id has no effect in kcli and is ignored: reading needs no group; to publish the "
            "stream's position in a group, set commitGroup"
        )
    for key in options:
        if key in REFUSED:
            raise UsageError(f"option {key} is not supported: {REFUSED[key]}")
    profile = None if named is None and "bootstrap.servers" in given else chosen(named)
    properties = _merged(profile, given)
    client = ClientSettings(
        bootstrap=_servers(properties.bootstrap), security=properties.security(), wait_for_cluster=False
    )
    client = client.replace(**properties.client)
    if say is not None:
        from_file = named is not None or "bootstrap.servers" not in given
        remarks = [not_read(above=False)] if from_file else []
        if profile is not None and profile.project and "bootstrap.servers" not in given:
            remarks.append(profile.choice)
        for sentence in (*filter(None, remarks), *properties.warnings, *properties.notes):
            say(sentence)
    mapped = [item for item in options.get("brokermap", "").split(",") if item]
    return Sealed(
        client=_profiled(client, profile, mapped),
        # nothing else may decide where reading resumes: an expired offset has to be noticed
        consumer=ConsumerSettings().replace(**properties.consumer, reset="none"),
        producer=ProducerSettings().replace(**properties.producer),
    )


def registry_settings(options: Mapping[str, str]) -> RegistrySettings | None:
    """Return the registry set by `schemaRegistry`, `schema.registry.*` or the profile; None without one. Raises
    UsageError."""
    from kcli.config.profiles import chosen
    from kcli.registry.settings import registry_of

    given = {key: text for key, text in options.items() if key.startswith(REGISTRY)}
    url = options.get("schemaregistry")
    if url is not None and given.setdefault(f"{REGISTRY}url", url) != url:
        raise UsageError("options schemaRegistry and schema.registry.url set two registries: use only one of them")
    named = options.get("context")
    profile = None if named is None and f"{REGISTRY}url" in given else chosen(named)
    properties = _merged(profile, {key[len("kafka.") :]: text for key, text in options.items() if key[:6] == "kafka."})
    for key, text in given.items():
        properties.put(key, text, f"option {key}")
    settings = registry_of(properties)
    if settings is None or not settings.folder:
        return settings
    return settings.replace(folder=os.path.abspath(settings.folder))  # tasks run in other folders


def guard_of(options: Mapping[str, str]) -> tuple[str, str]:
    """Return what the profile in the options forbids, and its name; ("", "") without one. Raises UsageError."""
    from kcli.config.profiles import chosen

    named = options.get("context")
    own = "kafka.bootstrap.servers" in options and (f"{REGISTRY}url" in options or "schemaregistry" in options)
    profile = None if named is None and own else chosen(named)
    return ("", "") if profile is None else (profile.guard, profile.name)


def _merged(profile: Profile | None, given: Mapping[str, str]) -> Properties:
    """Merge the properties of a profile with `kafka.*` options, which override them."""
    properties = Properties()
    if profile is not None:
        for key, value in profile.properties:
            properties.put(key, value, profile.where)
        properties.bootstrap = profile.bootstrap
    for key, text in given.items():
        properties.put(key, text, f"option kafka.{key}")
    return properties


def _servers(bootstrap: str | None) -> tuple[Address, ...]:
    if not bootstrap:
        raise UsageError(
            "option kafka.bootstrap.servers is missing: set it to the cluster, or set context to a profile"
        )
    try:
        return parse_bootstrap(bootstrap)
    except ValueError as problem:
        from kcli.secret import without_logins

        raise UsageError(f"option kafka.bootstrap.servers {without_logins(bootstrap)}: {problem}") from None


def _profiled(client: ClientSettings, profile: Profile | None, mapped: list[str]) -> ClientSettings:
    """Return the settings with the guard of a profile, and with its broker map after the items of `mapped`."""
    if profile is not None:
        mapped = [*mapped, *profile.broker_map]
        if profile.guard:
            client = client.replace(guard=profile.guard, profile=profile.name)
    if not mapped:
        return client
    from kcli.config.properties.broker_map import pair

    return client.replace(broker_map=tuple(pair(item, "option brokerMap") for item in mapped))


def plain(value: Any) -> Any:
    """Convert settings to picklable values: Secret cannot be pickled, and Frozen cannot be filled by unpickling."""
    if isinstance(value, Frozen):
        return "frozen", type(value), {f.name: plain(getattr(value, f.name)) for f in type(value).__fields__}
    if type(value).__name__ == "Secret":
        return "secret", type(value), value.reveal()
    if type(value) is tuple:
        return "tuple", None, [plain(one) for one in value]
    return "value", None, value


def _filled(what: Any) -> Any:
    kind, made, value = what
    if kind == "frozen":
        return made(**{name: _filled(one) for name, one in value.items()})
    if kind == "secret":
        return made(value)
    return tuple(_filled(one) for one in value) if kind == "tuple" else value


def opened(data: bytes) -> Any:
    """Restore the settings from the unpickled result of `plain`."""
    return _filled(pickle.loads(data))
