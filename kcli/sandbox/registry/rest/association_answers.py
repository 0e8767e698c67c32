"""What a registry answers about associations of subjects with topics: a function a request."""

from __future__ import annotations

from typing import Any

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.associations import ANY, LIFECYCLES, TOPIC, Association, Resource
from kcli.sandbox.registry.names import within
from kcli.sandbox.registry.registry import Registry
from kcli.sandbox.registry.rest.asked import Asked
from kcli.text.json_object import JsonObject

PARTS = ("key", "value")


def create(registry: Registry, asked: Asked) -> object:
    document = asked.document()
    try:
        resource, rows = _request(document, asked.context)
    except ValueError as problem:
        raise refusals.bad_association(str(problem)) from None
    for one in rows:
        if not registry.store.versions(one.subject):
            raise refusals.no_subject(one.subject)
    registry.associations.add(resource, rows)
    shown = [
        {"subject": one.subject, "associationType": one.part, "lifecycle": one.lifecycle, "frozen": one.frozen}
        for one in rows
    ]
    return {**_resource(resource), "associations": shown}


def of_name(registry: Registry, asked: Asked) -> object:
    namespace, name = asked.names["namespace"], asked.names["name"]
    rows = [
        one
        for one in registry.associations.every()
        if one.resource.name == name and namespace in (ANY, one.resource.namespace)
    ]
    return _page(asked, rows)


def of_id(registry: Registry, asked: Asked) -> object:
    return _page(asked, list(registry.associations.of_resource(asked.names["id"])))


def of_subject(registry: Registry, asked: Asked) -> object:
    return _page(asked, [one for one in registry.associations.every() if one.subject == asked.subject])


def delete(registry: Registry, asked: Asked) -> object:
    if asked.flag("cascadeLifecycle"):
        raise refusals.bad_association("the sandbox deletes no subjects with their associations")
    registry.associations.delete(asked.names["id"], asked.every("associationType"))
    return None


def _page(asked: Asked, rows: list[Association]) -> object:
    """Of the type of resource that the query names, and of the parts and the lifecycle where it does."""
    kind, lifecycle = asked.query.get("resourceType") or TOPIC, asked.query.get("lifecycle", "")
    parts = asked.every("associationType") or PARTS
    kept = [
        one
        for one in rows
        if one.resource.kind == kind and one.part in parts and lifecycle.upper() in ("", one.lifecycle)
    ]
    return asked.page([_shown(one) for one in kept])


def _request(document: JsonObject, context: str) -> tuple[Resource, list[Association]]:
    """Raises ValueError."""
    kind = document.text("resourceType") if document.has("resourceType") else TOPIC
    names = [_name(document, name) for name in ("resourceId", "resourceName", "resourceNamespace")]
    resource = Resource(id=names[0], name=names[1], namespace=names[2], kind=kind)
    rows = []
    for row in document.objects("associations"):
        part = row.text("associationType") if row.has("associationType") else "value"
        lifecycle = row.text("lifecycle").upper() if row.has("lifecycle") else "STRONG"
        if part not in PARTS or lifecycle not in LIFECYCLES:
            raise ValueError(f"{part} {lifecycle}: a key or a value, STRONG or WEAK")
        frozen = row.has("frozen") and row.flag("frozen")
        subject = within(context, _name(row, "subject"))
        rows.append(Association(resource=resource, subject=subject, part=part, lifecycle=lifecycle, frozen=frozen))
    return resource, rows


def _name(row: JsonObject, field: str) -> str:
    text = row.text(field)
    if not text or len(text) > 1000 or not text.isprintable():
        raise ValueError(f"{field} is not a name")
    return text


def _resource(resource: Resource) -> dict[str, Any]:
    return {
        "resourceName": resource.name,
        "resourceNamespace": resource.namespace,
        "resourceId": resource.id,
        "resourceType": resource.kind,
    }


def _shown(one: Association) -> dict[str, Any]:
    return {
        "subject": one.subject,
        **_resource(one.resource),
        "associationType": one.part,
        "lifecycle": one.lifecycle,
        "frozen": one.frozen,
    }
