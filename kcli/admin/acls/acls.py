"""ACLs of a cluster: read, added, removed (KIP-140). Any broker tells, and sends changes on to the controller."""

from __future__ import annotations

from collections.abc import Sequence

from kcli import codes
from kcli.acls import ANY, KINDS, OPERATIONS, PATTERNS, PERMISSIONS, Acl, AclFilter, number, word
from kcli.asking.ask import ask_anyone, ask_once
from kcli.asking.fan_out import pieces
from kcli.errors import BrokerError, KcliError
from kcli.model import Cluster

MOST = 1000
"""ACLs in one request: a controller takes at most 10,000 changes at once."""


async def describe_acls(cluster: Cluster, wanted: AclFilter | None = None) -> list[Acl]:
    """The ACLs that match, in order. Raises BrokerError SECURITY_DISABLED from a cluster without an authorizer."""
    from kcli.proto.messages.describe_acls import DescribeAclsRequest

    one = wanted or AclFilter()
    request = DescribeAclsRequest(
        resource_type_filter=ANY if one.kind is None else number(KINDS, one.kind),
        resource_name_filter=one.name,
        pattern_type_filter=number(PATTERNS, one.pattern),
        principal_filter=one.principal,
        host_filter=one.host,
        operation=ANY if one.operation is None else number(OPERATIONS, one.operation),
        permission_type=ANY if one.permission is None else number(PERMISSIONS, one.permission),
    )
    answer = await ask_anyone(cluster, request)
    if answer.error_code:
        raise BrokerError(codes.of(answer.error_code), "ACLs", answer.error_message)
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


async def create_acls(cluster: Cluster, acls: Sequence[Acl]) -> dict[Acl, KcliError | None]:
    """Add ACLs; None for each that holds now, also for one that was there before. Nothing is sent twice: where an
    answer was lost, the error of each says so."""
    from kcli.proto.messages.create_acls import AclCreation, CreateAclsRequest

    done: dict[Acl, KcliError | None] = {}
    for some in pieces(list(dict.fromkeys(acls)), MOST):
        rows = [
            AclCreation(
                resource_type=number(KINDS, one.kind),
                resource_name=one.name,
                resource_pattern_type=number(PATTERNS, one.pattern),
                principal=one.principal,
                host=one.host,
                operation=number(OPERATIONS, one.operation),
                permission_type=number(PERMISSIONS, one.permission),
            )
            for one in some
        ]
        try:
            answer = await ask_once(await cluster.anyone(), CreateAclsRequest(creations=rows))
        except KcliError as error:
            done.update(dict.fromkeys(some, error))
            continue
        for one, row in zip(some, answer.results, strict=False):
            done[one] = _failed(row.error_code, row.error_message)
        done.update({one: _left_out() for one in some[len(answer.results) :]})
    return done


async def delete_acls(cluster: Cluster, acls: Sequence[Acl]) -> dict[Acl, KcliError | None]:
    """Remove exactly these ACLs; None for each that is gone, also for one that was not there."""
    from kcli.proto.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest

    done: dict[Acl, KcliError | None] = {}
    for some in pieces(list(dict.fromkeys(acls)), MOST):
        rows = [
            DeleteAclsFilter(
                resource_type_filter=number(KINDS, one.kind),
                resource_name_filter=one.name,
                pattern_type_filter=number(PATTERNS, one.pattern),
                principal_filter=one.principal,
                host_filter=one.host,
                operation=number(OPERATIONS, one.operation),
                permission_type=number(PERMISSIONS, one.permission),
            )
            for one in some
        ]
        try:
            answer = await ask_once(await cluster.anyone(), DeleteAclsRequest(filters=rows))
        except KcliError as error:
            done.update(dict.fromkeys(some, error))
            continue
        for one, row in zip(some, answer.filter_results, strict=False):
            failed = _failed(row.error_code, row.error_message)
            inner = (_failed(each.error_code, each.error_message) for each in row.matching_acls)
            done[one] = failed or next((each for each in inner if each is not None), None)
        done.update({one: _left_out() for one in some[len(answer.filter_results) :]})
    return done


def _failed(number: int, message: str | None) -> KcliError | None:
    return BrokerError(codes.of(number), message=message or None) if number else None


def _left_out() -> KcliError:
    return KcliError("the broker's answer leaves this out")
