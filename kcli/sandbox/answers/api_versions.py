"""ApiVersions 0-5. Response header v0 at every version; a version above is refused in the broker with a v0 body. 3
adds features; below 4 those whose lowest level is 0 are hidden, since such clients stumble over it (KAFKA-17011)."""

from __future__ import annotations

from kcli import codes
from kcli.proto.messages.api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kcli.sandbox.answers import versions_answered
from kcli.sandbox.wire.request_context import RequestContext

IDENTITY = 5  # the first version with the identity of the broker that the client means (KIP-1242)
SOFTWARE = 3  # the first version with the name and version of the client's software
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")


async def answer(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    code = context.refused(18)
    if code is None and context.version >= SOFTWARE and not _is_named(request):
        code = codes.INVALID_REQUEST
    if code is None and context.version >= IDENTITY:
        code = _mistaken(context, request)
    if code is not None:
        return ApiVersionsResponse(error_code=code.number)
    features = context.cluster.features
    response = ApiVersionsResponse(
        api_keys=context.cluster.faults.planned.offered(
            versions_answered(context.cluster.settings), context.broker.node_id
        )
    )
    if context.version >= 3:
        response.finalized_features_epoch = features.epoch
        response.supported_features = [
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, (lowest, highest) in features.supported.items()
            if lowest > 0 or context.version >= 4
        ]
        response.finalized_features = [
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in features.finalized().items()
        ]
    return response


def _mistaken(context: RequestContext, request: ApiVersionsRequest) -> codes.ErrorCode | None:
    """What is wrong with the identity that a client expects here: half of one, or another broker's."""
    if request.cluster_id is None and request.node_id == -1:
        return None
    if request.cluster_id is None or request.node_id < 0:
        return codes.INVALID_REQUEST
    mine = (context.cluster.id, context.broker.node_id)
    return None if (request.cluster_id, request.node_id) == mine else codes.REBOOTSTRAP_REQUIRED


def _is_named(request: ApiVersionsRequest) -> bool:
    """Whether name and version of the software begin and end with a letter or digit, with - and . between (KIP-511)."""
    return all(
        text and text[0] in LETTERS and text[-1] in LETTERS and LETTERS.union("-.").issuperset(text)
        for text in (request.client_software_name, request.client_software_version)
    )
