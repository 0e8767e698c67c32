"""Client quotas (KIP-546, KIP-599, KIP-612): read them, and change them at the controller.

An entity is a user, a client id, a user with a client id, or an address. The name None is the default for every entity
of that kind without its own quota.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from kcli import codes
from kcli.asking.ask import ask_anyone
from kcli.asking.controller import ask_controller
from kcli.errors import BrokerError, DecodeError, KcliError, UsageError
from kcli.grammar.units import bytes_of, bytes_text, number_of, plain
from kcli.model import Cluster
from kcli.proto.messages import alter_client_quotas as altering
from kcli.proto.messages import describe_client_quotas as describing
from kcli.values import Frozen, Value, field

Quotas = dict["Entity", dict[str, float]]

USER, CLIENT, IP = "user", "client-id", "ip"
KINDS = (USER, CLIENT, IP)
DEFAULT = "<default>"  # how the name None is displayed
BYTES, PERCENT, RATE = "bytes/s", "%", "1/s"
KEYS = {
    "producer_byte_rate": BYTES,
    "consumer_byte_rate": BYTES,
    "request_percentage": PERCENT,
    "controller_mutation_rate": RATE,
    "connection_creation_rate": RATE,
}
"""What can be limited, with the unit."""
WHOLE = frozenset(("producer_byte_rate", "consumer_byte_rate", "connection_creation_rate"))
"""Keys whose values must be whole numbers."""
EXACT, IS_DEFAULT, ANY = 0, 1, 2


class Entity(Frozen):
    """The entity of a quota: (kind, name) in the order of `KINDS`; a None name is the default of the kind."""

    parts: tuple[tuple[str, str | None], ...] = ()

    @property
    def names(self) -> dict[str, str | None]:
        """Names of the entity by kind (user, client-id, ip)."""
        return dict(self.parts)

    @property
    def user(self) -> str | None:
        """The name of the user; None if there is none, and for the default."""
        return self.names.get(USER)

    @property
    def client_id(self) -> str | None:
        """The client.id; None if there is none, and for the default."""
        return self.names.get(CLIENT)

    @property
    def ip(self) -> str | None:
        """The address; None if there is none, and for the default."""
        return self.names.get(IP)

    @property
    def defaults(self) -> list[str]:
        """The kinds for which it is the default."""
        return [kind for kind, name in self.parts if name is None]

    def __str__(self) -> str:
        return ", ".join(f"{kind} {DEFAULT if name is None else name}" for kind, name in self.parts)


class Component(Frozen):
    """A filter condition on one kind: `match` is EXACT (this `name`), IS_DEFAULT or ANY (including the default)."""

    kind: str = USER
    match: int = ANY
    name: str | None = None


def entity(names: Mapping[str, str | None]) -> Entity:
    """Return the entity with these names. Raises UsageError for combinations without quotas in Kafka: no name, an empty
    name, an address together with anything else."""
    for kind, name in names.items():
        if kind not in KINDS:
            raise UsageError(f"quotas apply to a {', a '.join(KINDS)}, not to a {kind}")
        if name == "":
            raise UsageError(f"an empty {kind} has no quotas; the default for all is {DEFAULT}")
    if not names:
        raise UsageError("quotas apply to a user, a client-id, both, or an ip")
    if IP in names and len(names) > 1:
        raise UsageError("an ip quota cannot be combined with a user or a client id")
    return Entity(parts=tuple((kind, names[kind]) for kind in KINDS if kind in names))


def value_of(key: str, text: str) -> float:
    """Return the value of `10MiB`, `50%`, `5/s` as Kafka's number. Raises UsageError for an unknown key and an invalid
    value."""
    unit = KEYS.get(key)
    if unit is None:
        from kcli.text.suggest import did_you_mean

        known = ", ".join(KEYS)
        raise UsageError(f"{key}: no such quota{did_you_mean(key, KEYS) or f'; known: {known}'}")
    if unit == BYTES:
        value = bytes_of(text, key)
    else:
        bare = text.strip().removesuffix("%" if unit == PERCENT else "/s").strip()
        value = number_of(bare, key, text)
    if key in WHOLE and value != int(value):
        raise UsageError(f"{key}: this limit is a whole number, not {text!r}")
    return value


def text_of(key: str, value: float) -> str:
    """Return a value with its unit, in a form that `value_of` accepts."""
    unit = KEYS.get(key)
    if unit == BYTES:
        return f"{bytes_text(value)}/s"
    return plain(value) + {PERCENT: "%", RATE: "/s"}.get(unit or "", "")


async def describe_quotas(
    cluster: Cluster, components: Sequence[Component] = (), *, strict: bool = False
) -> dict[Entity, dict[str, float]]:
    """Return all quotas by entity and key, or those of entities that match every component; with `strict`, only of
    entities without other kinds. Raises BrokerError, DecodeError."""
    asked = [
        describing.ComponentData(
            entity_type=component.kind,
            match_type=component.match,
            match=component.name if not component.match else None,
        )
        for component in components
    ]
    answer = await ask_anyone(cluster, describing.DescribeClientQuotasRequest(components=asked, strict=strict))
    if answer.error_code:
        raise BrokerError(
            codes.of(answer.error_code),
            "quotas",
            answer.error_message,
            api=describing.DescribeClientQuotasRequest.api_key,
        )
    quotas: Quotas = {}
    for row in answer.entries or ():
        names = {part.entity_type: part.entity_name for part in row.entity}
        known = [kind for kind in KINDS if kind in names] + sorted(kind for kind in names if kind not in KINDS)
        at = Entity(parts=tuple((kind, names[kind]) for kind in known))
        for value in row.values:
            if not isfinite(value.value):
                raise DecodeError(
                    f"the broker reports {value.value} for the quota {value.key} of {at}, which is not a valid limit"
                )
        quotas[at] = {item.key: item.value for item in sorted(row.values, key=lambda item: item.key)}
    return dict(sorted(quotas.items(), key=lambda item: _order(item[0])))


def _order(entity: Entity) -> list[tuple[int, str, bool, str]]:
    """Sort key: users, then client ids, then addresses; the default of a kind follows its names."""
    return [(KINDS.index(kind) if kind in KINDS else 9, kind, name is None, name or "") for kind, name in entity.parts]


async def alter_quotas(
    cluster: Cluster, changes: Mapping[Entity, Mapping[str, float | None]], *, dry_run: bool = False
) -> dict[Entity, KcliError | None]:
    """Set quotas, and remove those whose value is None; with `dry_run` the controller only validates.

    The result is None on success; an entity changes as a whole or not at all. Never sent twice, unless the receiver was
    not the controller.
    """
    if not changes:
        return {}
    entries = [
        altering.EntryData(
            entity=[altering.EntityData(entity_type=kind, entity_name=name) for kind, name in at.parts],
            ops=[
                altering.OpData(key=key, value=0.0 if value is None else value, remove=value is None)
                for key, value in values.items()
            ],
        )
        for at, values in changes.items()
    ]
    request = altering.AlterClientQuotasRequest(entries=entries, validate_only=dry_run)
    answer = await ask_controller(cluster, request, lambda answer: [row.error_code for row in answer.entries])
    errors: dict[Entity, KcliError | None] = {}
    for row in answer.entries:
        names = {part.entity_type: part.entity_name for part in row.entity}
        at = Entity(parts=tuple((kind, names[kind]) for kind in KINDS if kind in names))
        code, api = codes.of(row.error_code), request.api_key
        errors[at] = BrokerError(code, str(at), row.error_message, api=api) if code else None
    return {at: errors.get(at, KcliError(f"{at}: the broker's response does not contain it")) for at in changes}


class QuotaLevel(Value):
    """A place where a quota may be defined: its rank, 1 first, and its value if it has one. `used`: it is the one in
    force."""

    rank: int = 0
    entity: Entity = None  # type: ignore[assignment]  # always given
    value: float | None = None
    used: bool = False


class InForce(Value):
    """The quota in force for one key; `value` None means no limit. `shared` describes the clients that share
    the limit."""

    key: str = ""
    value: float | None = None
    shared: str = ""
    ladder: list[QuotaLevel] = field(factory=list)


def ladder(user: str, client: str) -> dict[int, Entity]:
    """Return the places that Kafka checks, by rank, for a connection of `user` with `client` id; without a client id
    ("") only those of the user."""
    places: list[tuple[tuple[str, str | None], ...]] = [
        ((USER, user), (CLIENT, client)),
        ((USER, user), (CLIENT, None)),
        ((USER, user),),
        ((USER, None), (CLIENT, client)),
        ((USER, None), (CLIENT, None)),
        ((USER, None),),
        ((CLIENT, client),),
        ((CLIENT, None),),
    ]
    return {rank: Entity(parts=at) for rank, at in enumerate(places, 1) if client or at[-1][0] == USER}


def resolve(quotas: Quotas, *, user: str, client: str, ip: str | None = None) -> list[InForce]:
    """Return the quota in force for every key, with all places that were checked."""
    rows = []
    for key in KEYS:
        if key == "connection_creation_rate":
            if ip is None:
                continue
            places = {1: Entity(parts=((IP, ip),)), 2: Entity(parts=((IP, None),))}
        else:
            places = ladder(user, client)
        rungs = [QuotaLevel(rank=rank, entity=at, value=quotas.get(at, {}).get(key)) for rank, at in places.items()]
        first = next((rung for rung in rungs if rung.value is not None), None)
        if first is not None:
            first.used = True
        rows.append(
            InForce(
                key=key,
                value=None if first is None else first.value,
                shared="" if first is None else _shared(first.entity, user, client, ip),
                ladder=rungs,
            )
        )
    return rows


def _shared(entity: Entity, user: str, client: str, ip: str | None) -> str:
    """Return which clients share one allowance at a broker: with a default, each has its own."""
    kinds = entity.names
    if IP in kinds:
        return f"connections from {ip}"
    if USER in kinds and CLIENT in kinds:
        return f"user {user} with client-id {client}"
    return f"user {user}, all client ids" if USER in kinds else f"client-id {client}, all users"
