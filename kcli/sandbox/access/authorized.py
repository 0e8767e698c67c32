"""The operations that a client may do on a resource, as the bits of AclOperation that responses carry on demand
(KIP-430)."""

from __future__ import annotations

from kcli.acls import CLUSTER, OPERATIONS, POSSIBLE
from kcli.sandbox.wire.request_context import RequestContext

UNTOLD = -(2**31)
"""Nobody asked."""


def operations(context: RequestContext, kind: str, name: str = CLUSTER, *, wanted: bool = True) -> int:
    """The bits for a topic, a group or the cluster; UNTOLD unless they are `wanted`."""
    if not wanted:
        return UNTOLD
    return sum(1 << OPERATIONS[operation] for operation in POSSIBLE[kind] if context.may(operation, kind, name))
