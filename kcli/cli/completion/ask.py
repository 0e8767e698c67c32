"""What the child of a TAB asks the cluster. Commands and keyrings that keep secrets are not asked: they may want a
password, and a TAB cannot ask for it."""

from __future__ import annotations

import os

from kcli.errors import KcliError
from kcli.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.completion.cluster import About, Question
    from kcli.cli.parsing.groups import ConnectionOptions
    from kcli.model import Cluster
    from kcli.settings import ClientSettings


def ask(question: Question, seconds: float) -> list[str]:
    """The names, within about that many seconds. Raises KcliError and whatever else a configuration can be wrong by."""
    from kcli.cli.completion.place import safe
    from kcli.cli.runtime.startup import start_lean

    start_lean()
    import asyncio

    from kcli.cli.runtime.connection import Connection

    options = question.options
    if asks_elsewhere(Connection(options, looking=False), options):
        raise KcliError("completion does not read this source of secrets")
    if question.kind in ("subjects", "contexts"):
        return sorted({name for name in asyncio.run(_of_registry(question, seconds)) if safe(name)})
    settings = Connection(options).client().replace(deadline=seconds, trace="")
    return sorted({name for name in asyncio.run(_names(question, settings)) if safe(name)})


def asks_elsewhere(connection: object, options: ConnectionOptions) -> bool:
    """Whether a secret is kept by a command or a keyring."""
    profile = getattr(connection, "profile", None)
    texts = [*(options.properties), *(v for k, v in os.environ.items() if k[:5] == "KCLI_")]
    if options.config_file:
        texts.append(files.read_text(options.config_file, files.SETTINGS, "replace"))
    for key, value in profile.properties if profile is not None else ():
        if getattr(value, "kind", "") in ("command", "keyring"):
            return True
        texts.append(f"{key}={value}")
    words = ("${command:", "${keyring:", "token.command")
    commanded = "KCLI_SASL_OAUTHBEARER_TOKEN_COMMAND" in os.environ
    return commanded or any(word in text for text in texts for word in words)


async def _names(question: Question, settings: ClientSettings) -> list[str]:
    from kcli.client import Client

    kind = question.kind
    async with Client(settings) as client:
        if kind == "groups":
            from kcli.admin.groups.groups import group_names

            return await group_names(client.cluster)
        if kind == "transactions":
            from kcli.admin.transactions.transactions import list_transactions

            return [one.name for one in (await list_transactions(client.cluster))[0]]
        if kind in ("users", "tokens", "principals"):
            return await _people(client.cluster, kind)
        from kcli.asking.ask import ask_anyone
        from kcli.proto.messages.metadata import MetadataRequest

        answer = await ask_anyone(client.cluster, MetadataRequest(topics=None, allow_auto_topic_creation=False))
        if kind == "brokers":
            return [f"[{b.host}]:{b.port}" if ":" in b.host else f"{b.host}:{b.port}" for b in answer.brokers]
        ids = [str(broker.node_id) for broker in answer.brokers]
        topics = [row.name for row in answer.topics if row.name and not row.is_internal]
        if kind == "configs":
            return await _configs(client.cluster, question.about, {"topic": topics}.get(question.about[0], ids))
        return ids if kind == "ids" else topics


async def _of_registry(question: Question, seconds: float) -> list[str]:
    """Subjects or contexts. Nothing where no registry is named."""
    from kcli.cli.runtime.connection import Connection
    from kcli.registry.listing.opened import OpenRegistry

    named = Connection(question.options).registry(question.about[0] or None)
    if named is None or (named.oauth is not None and named.oauth.token_command):
        return []
    if not named.folder:
        named = named.replace(connect_timeout=seconds, read_timeout=seconds, retries=0, disk=False)
    registry = OpenRegistry(named)
    try:
        return await (registry.client.subjects() if question.kind == "subjects" else registry.client.contexts())
    finally:
        await registry.close()


async def _people(cluster: Cluster, kind: str) -> list[str]:
    """Users of SCRAM, ids of delegation tokens, or all known principals: those users, and the principals of ACLs."""
    if kind == "tokens":
        from kcli.admin.tokens import describe_tokens

        return [one.id for one in await describe_tokens(cluster)]
    from kcli.admin.users import describe_users

    if kind == "users":
        return list(await describe_users(cluster))
    from kcli.admin.acls import describe_acls

    known: set[str] = set()
    for asked in (describe_users, describe_acls):  # a client with the right to one may lack it for the other
        try:
            told = await asked(cluster)
        except KcliError:
            continue
        known |= {f"User:{one}" if isinstance(one, str) else one.principal for one in told}
    return sorted(known)


async def _configs(cluster: Cluster, about: About, there: list[str]) -> list[str]:
    """What can be set on a resource, told by itself, or by one of its kind while its name is none yet."""
    from kcli.admin.configs import Resource, describe_configs

    kind, name = about
    if kind in ("topic", "broker", "logger") and name not in there:
        if not there:
            return []
        name = there[0]
    (found,) = (await describe_configs(cluster, [Resource(kind, name)])).values()
    return [] if isinstance(found, KcliError) else [config.name for config in found if not config.read_only]
