"""IncrementalAlterConfigs 0-1. Topics, groups, client metrics, brokers and their loggers."""

from __future__ import annotations

from kcli.proto.messages.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kcli.sandbox.answers.altering import alter, named_twice
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: IncrementalAlterConfigsRequest) -> IncrementalAlterConfigsResponse:
    twice = named_twice((resource.resource_type, resource.resource_name) for resource in request.resources)
    rows = []
    for asked in request.resources:
        resource = asked.resource_type, asked.resource_name
        operations = [(config.name, config.config_operation, config.value) for config in asked.configs]
        code, words = alter(context, 44, twice, resource, operations, whole=False, check_only=request.validate_only)
        rows.append(
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=words,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    return IncrementalAlterConfigsResponse(responses=rows)
