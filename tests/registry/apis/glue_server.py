"""moto's server with two requests of AWS Glue that moto lacks: `python -m tests.registry.apis.glue_server`, with the
words of moto.server. Their form and rules are those of AWS's reference: the first version goes with its schema only."""

from __future__ import annotations

import sys
from typing import Any

from moto.core.responses import ActionResult
from moto.glue.exceptions import InvalidInputException
from moto.glue.glue_schema_registry_utils import validate_schema_id
from moto.glue.responses import GlueResponse
from moto.server import main

FIRST = "the first version is deleted with its schema only"


def list_schema_versions(self: Any) -> ActionResult:
    """In the order of their numbers, as pages of two."""
    rows = [
        {"SchemaArn": one.schema_arn, "CreatedTime": str(one.created_time), **one.as_dict()}
        for one in versions_of(self)
    ]
    start = int(self._get_param("NextToken") or "0")
    more = {"NextToken": str(start + 2)} if start + 2 < len(rows) else {}
    return ActionResult({"Schemas": rows[start : start + 2], **more})


def delete_schema_versions(self: Any) -> ActionResult:
    """Of one number or of a range; a version that is not there is an item of the answer."""
    first, _, last = self._get_param("Versions").partition("-")
    schema = schema_of(self)
    by_number = {one.version_number: one for one in versions_of(self)}
    errors = []
    for number in range(int(first), int(last or first) + 1):
        if number == schema.schema_checkpoint:
            raise InvalidInputException("DeleteSchemaVersions", FIRST)
        if number not in by_number:
            details = {"ErrorCode": "EntityNotFoundException", "ErrorMessage": "Schema version is not found"}
            errors.append({"VersionNumber": number, "ErrorDetails": details})
            continue
        del schema.schema_versions[by_number.pop(number).schema_version_id]
    schema.latest_schema_version = max(by_number)
    return ActionResult({"SchemaVersionErrors": errors})


def versions_of(response: Any) -> list[Any]:
    return sorted(schema_of(response).schema_versions.values(), key=lambda one: int(one.version_number))


def schema_of(response: Any) -> Any:
    backend = response.glue_backend
    registry, name, _ = validate_schema_id(response._get_param("SchemaId"), backend.registries)
    return backend.registries[registry].schemas[name]


if __name__ == "__main__":
    for added in (list_schema_versions, delete_schema_versions):
        assert not hasattr(GlueResponse, added.__name__), f"moto has {added.__name__}: remove it here"
        setattr(GlueResponse, added.__name__, added)
    main(sys.argv[1:])
