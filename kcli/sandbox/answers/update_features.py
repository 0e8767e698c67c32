"""UpdateFeatures 0-2 (KIP-584, 1022): all of a request or nothing. 1 adds the kind of the update and validate_only;
below 2 a request that is done has a row for each feature."""

from __future__ import annotations

from kcli import codes
from kcli.errors import BrokerError
from kcli.proto.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kcli.sandbox.cluster.quorum import METADATA
from kcli.sandbox.wire.request_context import RequestContext

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


async def answer(context: RequestContext, request: UpdateFeaturesRequest) -> UpdateFeaturesResponse:
    refused = None
    try:
        scripted = context.refused(57)
        if scripted is not None:
            raise BrokerError(scripted)
        for update in request.feature_updates:
            _check(context, update)
        if not request.validate_only:
            for update in request.feature_updates:
                context.cluster.journal.note("feature", {"feature": update.feature, "level": update.max_version_level})
    except BrokerError as problem:
        refused = problem
    if refused is None and not request.validate_only:
        for update in request.feature_updates:
            context.cluster.features.finalize(update.feature, update.max_version_level)
    number, message = (0, None) if refused is None else (refused.code.number, str(refused))
    if context.version >= 2 or refused is not None:
        return UpdateFeaturesResponse(error_code=number, error_message=message)
    rows = [UpdatableFeatureResult(feature=update.feature, error_message=None) for update in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=rows)


def _check(context: RequestContext, update: FeatureUpdateKey) -> None:
    """Raises BrokerError INVALID_UPDATE_VERSION, as Kafka's controller does."""
    now, wanted = context.cluster.features.level(update.feature), update.max_version_level
    kind = update.upgrade_type if context.version >= 1 else (SAFE_DOWNGRADE if update.allow_downgrade else UPGRADE)
    supported = context.cluster.features.supported
    lowest, highest = supported.get(update.feature, (0, 0))
    why = ""
    if update.feature not in supported:
        why = f"the sandbox has no feature {update.feature}"
    elif not lowest <= wanted <= highest:
        why = f"the sandbox supports {update.feature} from {lowest} to {highest}, not {wanted}"
    elif update.feature == METADATA and wanted < now:
        why = f"{METADATA} {wanted} is below {now}, and metadata would be lost"
    elif kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        why = f"unknown kind of update {kind}"
    elif wanted < now and kind == UPGRADE:
        why = f"{update.feature} is at {now}: {wanted} would be a downgrade, and an upgrade was asked for"
    elif wanted > now and kind != UPGRADE:
        why = f"{update.feature} is at {now}: {wanted} would be an upgrade, and a downgrade was asked for"
    if why:
        raise BrokerError(codes.INVALID_UPDATE_VERSION, message=why)
