"""AlterConfigs 0-2: replaces all overrides of a resource; those that are not listed are removed. Loggers have only
IncrementalAlterConfigs, as in Kafka."""

from __future__ import annotations

from kcli.proto.messages.alter_configs import AlterConfigsRequest, AlterConfigsResourceResponse, AlterConfigsResponse
from kcli.sandbox.answers.altering import alter, named_twice
from kcli.sandbox.configs.definitions import SET
from kcli.sandbox.wire.request_context import RequestContext


async def answer(context: RequestContext, request: AlterConfigsRequest) -> AlterConfigsResponse:
    twice = named_twice((resource.resource_type, resource.resource_name) for resource in request.resources)
    rows = []
    for asked in request.resources:
        resource = asked.resource_type, asked.resource_name
        operations = [(config.name, SET, config.value) for config in asked.configs]
        code, words = alter(context, 33, twice, resource, operations, whole=True, check_only=request.validate_only)
        rows.append(
            AlterConfigsResourceResponse(
                error_code=code,
                error_message=words,
                resource_type=asked.resource_type,
                resource_name=asked.resource_name,
            )
        )
    return AlterConfigsResponse(responses=rows)
