"""Exports a cluster as a declared document: overrides without defaults, so that applying it changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kcli import codes
from kcli.admin.acls import describe_acls
from kcli.admin.cluster.brokers import fenced_brokers
from kcli.admin.configs import Resource, about, describe_configs, own
from kcli.admin.quotas import describe_quotas
from kcli.admin.topics.topics import describe_topics
from kcli.admin.users import describe_users
from kcli.asking.fan_out import bad, good
from kcli.declared.entries import PASSING, acl_entries, named, quota_entry, schema_entry, standing, variable
from kcli.declared.schema import ID, SECTIONS
from kcli.errors import BrokerError, ConnectError, KcliError, UnsupportedVersion
from kcli.model import Cluster
from kcli.registry.client import RegistryClient
from kcli.registry.moving.snapshot import each, own_level
from kcli.text.names import Names

NONE_THERE = (codes.SECURITY_DISABLED,)


class Export:
    """The result: the `document`, notes, and what could not be read, by section."""

    def __init__(
        self,
        cluster: Cluster,
        *,
        names: Names | None = None,
        internal: bool = False,
        registry: RegistryClient | None = None,
    ) -> None:
        """With a `registry`, schemas are exported, too."""
        self.document: dict[str, Any] = {"schema": ID}
        self.remarks: list[str] = []
        self.failed: dict[str, KcliError] = {}
        self._cluster = cluster
        self._names = names or Names()
        self._matched: set[str] = set()
        self._internal = internal
        self._registry = registry

    async def read(self, sections: Sequence[str] = SECTIONS) -> None:
        """Read the sections. What fails is omitted, with a note; raises KcliError if the cluster is unreachable."""
        parts = {
            "topics": self._topics,
            "configs": self._configs,
            "users": self._users,
            "quotas": self._quotas,
            "acls": self._acls,
            "schemas": self._schemas,
        }
        for name in (one for one in SECTIONS if one in sections):
            try:
                rows = await parts[name]()
            except ConnectError:
                raise
            except KcliError as error:
                self._without(name, error)
                continue
            if rows:
                self.document[name] = rows

    def _without(self, name: str, error: KcliError) -> None:
        """Note an omitted section. A feature that the cluster does not support is not an error."""
        if isinstance(error, UnsupportedVersion) or (isinstance(error, BrokerError) and error.code in NONE_THERE):
            self.remarks.append(f"no {name}: {error}")
        else:
            self.failed[name] = error

    def _wanted(self, name: str) -> bool:
        fitting = {word for word in self._names.words if self._names.fits(word, name)}
        self._matched |= fitting
        return bool(fitting) or not self._names.words

    @property
    def unmatched(self) -> list[str]:
        """Return the names and patterns that match nothing of what was read."""
        return [word for word in self._names.words if word not in self._matched]

    async def _topics(self) -> dict[str, Any]:
        described = await describe_topics(self._cluster, internal=True)
        for name, error in bad(described).items():
            self.failed[name] = error
        topics = {
            name: topic
            for name, topic in good(described).items()
            if self._wanted(name) and (self._internal or not (topic.internal or name.startswith("__")))
        }
        values = await self._own([Resource("topic", name) for name in topics])
        document: dict[str, Any] = {}
        for name in sorted(topics):
            one = document[name] = {
                "partitions": len(topics[name].partitions),
                "replication": topics[name].replication_factor,
            }
            if mine := values.get(Resource("topic", name)):
                one["configs"] = mine
        return document

    async def _own(self, resources: list[Resource]) -> dict[Resource, dict[str, str]]:
        """Return what is set on each resource itself."""
        values: dict[Resource, dict[str, str]] = {}
        for at, configs in (await describe_configs(self._cluster, resources) if resources else {}).items():
            if isinstance(configs, KcliError):
                self.failed[about(at)] = configs
                continue
            mine = [config for config in configs if own(at, config) and not PASSING.fullmatch(config.name)]
            values[at] = {config.name: config.value or "" for config in mine if not config.secret}
            if hidden := [config.name for config in mine if config.secret]:
                self.remarks.append(f"{about(at)}: {', '.join(hidden)} is secret and omitted")
        return values

    async def _configs(self) -> dict[str, Any]:
        resources, unlisted = await standing(self._cluster)
        self.remarks += [f"without configs of {kind}s: {error}" for kind, error in unlisted.items()]
        resources += [Resource("broker", str(node.id)) for node in await fenced_brokers(self._cluster)]  # an error
        values = await self._own([at for at in resources if self._wanted(named(at))])
        document: dict[str, Any] = {}
        for at, mine in values.items():
            if mine:
                document.setdefault(at.kind, {})[at.name or "default"] = mine
        return document

    async def _users(self) -> dict[str, Any]:
        credentials = await describe_users(self._cluster)
        for name, error in bad(credentials).items():
            self.failed[name] = error
        return {
            name: {
                mechanism: {"iterations": count, "password": {"env": variable(name)}}
                for mechanism, count in sorted(have.items())
            }
            for name, have in good(credentials).items()
            if self._wanted(name)
        }

    async def _quotas(self) -> list[dict[str, Any]]:
        rows = await describe_quotas(self._cluster)
        return [quota_entry(at, values) for at, values in rows.items() if self._wanted(str(at)) and values]

    async def _acls(self) -> list[dict[str, Any]]:
        return acl_entries(acl for acl in await describe_acls(self._cluster) if self._wanted(acl.principal))

    async def _schemas(self) -> dict[str, Any]:
        if self._registry is None:
            return {}
        registry = self._registry
        subjects = sorted(name for name in await registry.subjects() if self._wanted(name))
        schemas = await each(registry.version, subjects)
        levels = await each(lambda name: own_level(registry, name), subjects)
        return {schema.subject: schema_entry(schema, level) for schema, level in zip(schemas, levels, strict=True)}
