"""Which quota is in force for a client, by Kafka's order of precedence (KIP-55, KIP-612): the first of eight places
that has a value for the key, for each key by itself."""

from __future__ import annotations

from kcli.admin.quotas.quotas import CLIENT, IP, KEYS, USER, Entity, Quotas
from kcli.values import Value, field


class Rung(Value):
    """One place where a quota may be defined: its rank, 1 first, and its value if it has one. `used`: it is the one in
    force."""

    rank: int = 0
    entity: Entity = None  # type: ignore[assignment]  # always given
    value: float | None = None
    used: bool = False


class InForce(Value):
    """The quota in force for one key; `value` None is no limit. `shared` names the clients that share the limit."""

    key: str = ""
    value: float | None = None
    shared: str = ""
    ladder: list[Rung] = field(factory=list)


def ladder(user: str, client: str) -> dict[int, Entity]:
    """The places that Kafka reads, by rank, for a connection of `user` with `client` id; without a client id ("") only
    those of the user."""
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
    """The quota in force for every key, with all places that were read."""
    rows = []
    for key in KEYS:
        if key == "connection_creation_rate":
            if ip is None:
                continue
            places = {1: Entity(parts=((IP, ip),)), 2: Entity(parts=((IP, None),))}
        else:
            places = ladder(user, client)
        rungs = [Rung(rank=rank, entity=at, value=quotas.get(at, {}).get(key)) for rank, at in places.items()]
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
    """The clients that share one allowance at a broker: a default gives each its own."""
    kinds = entity.names
    if IP in kinds:
        return f"connections from {ip}"
    if USER in kinds and CLIENT in kinds:
        return f"user {user} with client-id {client}"
    return f"user {user}, all client ids" if USER in kinds else f"client-id {client}, all users"
