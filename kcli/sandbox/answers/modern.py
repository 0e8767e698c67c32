"""What the APIs of KIP-848 groups have in common."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.sandbox.wire.request_context import RequestContext


def switched_on(context: RequestContext) -> None:
    """Raises BrokerError UNSUPPORTED_VERSION below group.version 1, as Kafka does."""
    if context.cluster.features.level("group.version") < 1:
        raise BrokerError(codes.UNSUPPORTED_VERSION, message="the consumer protocol of KIP-848 is not enabled")
