"""ACLs of a cluster: list, create, delete (KIP-140). Any broker responds, and forwards changes to the controller."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kcli import codes
from kcli.acls import ANY, KINDS, OPERATIONS, PATTERNS, PERMISSIONS, Acl, AclFilter, number, word
from kcli.asking.ask import ask_anyone, ask_once
from kcli.asking.fan_out import pieces
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster

BLOCKS_SINCE = 32
"""The level of metadata.version (4.4-IV1) from which hosts may be address blocks (KIP-1276). Before, controllers reject
them, and brokers older than 4.4 keep them as text that matches no client."""
CREATE_ACLS = 30  # DeleteAcls requires the same permission
MOST = 1000
"""ACLs in one request: a controller accepts at most 10,000 changes at once."""


async def describe_acls(cluster: Cluster, wanted: AclFilter | None = None) -> list[Acl]:
    """Return the ACLs that match, in order. Raises BrokerError SECURITY_DISABLED if the cluster has no authorizer."""
    from kcli.proto.messages.describe_acls import DescribeAclsRequest

    request = DescribeAclsRequest(**_filter_fields(wanted or AclFilter()))
    answer = await ask_anyone(cluster, request)
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), "ACLs", answer.error_message, api=request.api_key)
    return sorted(
        Acl(
            kind=word(KINDS, at.resource_type),
            name=at.resource_name,
            pattern=word(PATTERNS, at.pattern_type),
            principal=rule.principal,
            host=rule.host,
            operation=word(OPERATIONS, rule.operation),
            permission=word(PERMISSIONS, rule.permission_type),
        )
        for at in answer.resources
        for rule in at.acls
    )


async def takes_blocks(cluster: Cluster) -> bool:
    """Whether hosts of ACLs may be address blocks. Raises KcliError."""
    from kcli.admin.cluster.quorum import features

    levels = {feature.name: feature.level or 0 for feature in await features(cluster)}
    return levels.get("metadata.version", 0) >= BLOCKS_SINCE


async def create_acls(cluster: Cluster, acls: Sequence[Acl]) -> dict[Acl, KcliError | None]:
    """Create ACLs. The result of each is None if it exists now, including if it existed before. No request is sent
    twice: after a lost response each of its ACLs has that error."""
    from kcli.proto.messages.create_acls import AclCreation, CreateAclsRequest

    def creation(acl: Acl) -> AclCreation:
        return AclCreation(
            resource_type=number(KINDS, acl.kind),
            resource_name=acl.name,
            resource_pattern_type=number(PATTERNS, acl.pattern),
            principal=acl.principal,
            host=acl.host,
            operation=number(OPERATIONS, acl.operation),
            permission_type=number(PERMISSIONS, acl.permission),
        )

    async def create(some: list[Acl]) -> list[KcliError | None]:
        response = await ask_once(await cluster.anyone(), CreateAclsRequest(creations=list(map(creation, some))))
        return [_failed(row.error_code, row.error_message) for row in response.results]

    return await _change(acls, create)


async def delete_acls(cluster: Cluster, acls: Sequence[Acl]) -> dict[Acl, KcliError | None]:
    """Delete exactly these ACLs. The result of each is None if it is gone now, including if it did not exist."""
    from kcli.proto.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest

    async def delete(some: list[Acl]) -> list[KcliError | None]:
        rows = [DeleteAclsFilter(**_filter_fields(acl)) for acl in some]
        response = await ask_once(await cluster.anyone(), DeleteAclsRequest(filters=rows))
        results: list[KcliError | None] = []
        for row in response.filter_results:
            errors = [_failed(row.error_code, row.error_message)]
            errors += [_failed(matched.error_code, matched.error_message) for matched in row.matching_acls]
            results.append(next((error for error in errors if error is not None), None))
        return results

    return await _change(acls, delete)


async def _change(
    acls: Sequence[Acl], change: Callable[[list[Acl]], Awaitable[list[KcliError | None]]]
) -> dict[Acl, KcliError | None]:
    """Return the result of each ACL. `change` sends one request with as many ACLs as allowed."""
    outcomes: dict[Acl, KcliError | None] = {}
    for some in pieces(list(dict.fromkeys(acls)), MOST):
        try:
            results = await change(some)
        except KcliError as error:
            outcomes.update(dict.fromkeys(some, error))
            continue
        outcomes.update(zip(some, results, strict=False))
        outcomes.update({acl: _left_out() for acl in some[len(results) :]})
    return outcomes


def _filter_fields(wanted: Acl | AclFilter) -> dict[str, Any]:
    """Return a filter as the fields of DescribeAcls and DeleteAcls; an ACL becomes the filter that only it matches."""
    return {
        "resource_type_filter": ANY if wanted.kind is None else number(KINDS, wanted.kind),
        "resource_name_filter": wanted.name,
        "pattern_type_filter": number(PATTERNS, wanted.pattern),
        "principal_filter": wanted.principal,
        "host_filter": wanted.host,
        "operation": ANY if wanted.operation is None else number(OPERATIONS, wanted.operation),
        "permission_type": ANY if wanted.permission is None else number(PERMISSIONS, wanted.permission),
    }


def _failed(number: int, message: str | None) -> KcliError | None:
    return BrokerError(codes.of(number), message=message or None, api=CREATE_ACLS) if number else None


def _left_out() -> KcliError:
    return KcliError("the broker's response does not contain this")


FEW = 20
"""Up to this number of filters each gets a request; with more, one request lists all ACLs."""


async def find_acls(cluster: Cluster, wanted: Sequence[AclFilter]) -> list[Acl]:
    """Return the ACLs that match any of the filters, each once, in order."""
    if len(wanted) > FEW:
        acls = await describe_acls(cluster)
        return [acl for acl in acls if any(filter.matches(acl) for filter in wanted)]
    parts = await asyncio.gather(*(describe_acls(cluster, filter) for filter in wanted))
    return sorted({acl for part in parts for acl in part})
