"""What a registry answers about compatibility, modes, contexts, associations and itself: a function a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import DEFAULT, GLOBAL, split, within
from kcli.sandbox.registry.refusals import Refused
from kcli.sandbox.registry.registry import MODES, Registry, Scoped, number_of
from kcli.sandbox.registry.rest.asked import Asked
from kcli.sandbox.registry.store import ANY, LIFECYCLES, TOPIC, Association, Resource, Version
from kcli.serde.avro.compatibility import LEVELS
from kcli.text.json_object import JsonObject
from kcli.version import __version__

PARTS = ("key", "value")


def compatible(registry: Registry, asked: Asked) -> object:
    """With one version."""
    given, subject = asked.names["version"], asked.subject
    number = number_of(given)
    rows = registry.store.versions(subject)
    if number is not None:
        found = registry.store.find(subject, number)
        if found is None or found.deleted:
            raise refusals.no_version(given)
        rows = [found]
    return _verdict(registry, asked, rows[-1:])


def compatible_with_all(registry: Registry, asked: Asked) -> object:
    """With those that the level asks for."""
    return _verdict(registry, asked, registry.store.versions(asked.subject))


def _verdict(registry: Registry, asked: Asked, rows: list[Version]) -> object:
    reasons = registry.compared(asked.subject, asked.draft(), rows, normalize=asked.flag("normalize"))
    return {"is_compatible": not reasons, **({"messages": reasons} if asked.flag("verbose") else {})}


def _setting(settings: Scoped, asked: Asked, none: Callable[[str], Refused]) -> dict[str, Any]:
    """What holds for the subject, or for all; `none` refuses a subject that has no value of its own."""
    if not asked.flag("defaultToGlobal"):
        _has_own(settings, asked, none)
    return settings.of(asked.subject)


def _deleted(settings: Scoped, asked: Asked, none: Callable[[str], Refused]) -> dict[str, Any]:
    """Let the subject inherit again; what held for it before."""
    _has_own(settings, asked, none)
    before = settings.of(asked.subject)
    settings.delete(asked.subject)
    return before


def _has_own(settings: Scoped, asked: Asked, none: Callable[[str], Refused]) -> None:
    if "subject" in asked.names and not settings.own(asked.subject):
        raise none(asked.subject)


# -- levels ----------------------------------------------------------------------------------------------------------


def level(registry: Registry, asked: Asked) -> object:
    return _setting(registry.levels, asked, refusals.no_level)


def set_level(registry: Registry, asked: Asked) -> object:
    values = _level(asked)
    registry.levels.put(asked.subject, values)
    shown = {name: value for name, value in values.items() if value is not None}
    if "compatibilityLevel" in shown:
        shown["compatibility"] = shown.pop("compatibilityLevel")
    return shown


SETTINGS = {"compatibility": "compatibilityLevel", "normalize": "normalize", "compatibilityGroup": "compatibilityGroup"}
"""What has a meaning here: its name in a request, and in an answer."""


def _level(asked: Asked) -> dict[str, Any]:
    """The values of a request that have a meaning here; None removes one. Raises Refused."""
    document = asked.document()
    values: dict[str, Any] = {}
    for name, own in SETTINGS.items():
        if name not in document.fields:
            continue
        try:
            if not document.has(name):
                values[own] = None
            elif name == "normalize":
                values[own] = document.flag(name)
            else:
                values[own] = document.text(name).upper() if name == "compatibility" else document.text(name)
        except ValueError as problem:
            raise refusals.malformed(str(problem)) from None
    if not values or values.get("compatibilityLevel", "NONE") not in (*LEVELS, None):
        raise refusals.bad_level()
    return values


def delete_level(registry: Registry, asked: Asked) -> object:
    return _deleted(registry.levels, asked, refusals.no_level)


# -- modes -----------------------------------------------------------------------------------------------------------


def mode(registry: Registry, asked: Asked) -> object:
    return _setting(registry.modes, asked, refusals.no_mode)


def set_mode(registry: Registry, asked: Asked) -> object:
    document, subject = asked.document(), asked.subject
    try:
        given = document.text("mode").upper()
    except ValueError as problem:
        raise refusals.malformed(str(problem)) from None
    if given not in MODES or (given == "READONLY_OVERRIDE" and subject):
        raise refusals.bad_mode()
    if given == "IMPORT" and not asked.flag("force") and _has_versions(registry, subject):
        raise refusals.not_permitted("Cannot import since found existing subjects")
    registry.modes.put(subject, {"mode": given})
    return {"mode": given}


def _has_versions(registry: Registry, scope: str) -> bool:
    context, name = split(scope)
    if name:
        return bool(registry.store.versions(scope))
    return any(
        context in (GLOBAL, split(subject)[0]) and registry.store.versions(subject)
        for subject in registry.store.subjects()
    )


def delete_mode(registry: Registry, asked: Asked) -> object:
    return _deleted(registry.modes, asked, refusals.no_mode)


# -- contexts, and the registry --------------------------------------------------------------------------------------


def contexts(registry: Registry, asked: Asked) -> object:
    return asked.page(sorted({*registry.store.contexts(), *registry.levels.contexts(), *registry.modes.contexts()}))


def delete_context(registry: Registry, asked: Asked) -> object:
    context = asked.names["context"].strip(":")
    if context == DEFAULT or any(split(subject)[0] == context for subject in registry.store.subjects()):
        raise refusals.context_not_empty(context)
    for settings in (registry.levels, registry.modes):
        settings.delete(f":{context}:")
    return {}


def identity(registry: Registry, asked: Asked) -> object:
    return {"id": "kcli-sandbox", "scope": {"path": [], "clusters": {"schema-registry-cluster": "kcli-sandbox"}}}


def release(registry: Registry, asked: Asked) -> object:
    return {"version": f"kcli {__version__}", "commitId": ""}


def root(registry: Registry, asked: Asked) -> object:
    return {}


def create_association(registry: Registry, asked: Asked) -> object:
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


def associations_of_name(registry: Registry, asked: Asked) -> object:
    namespace, name = asked.names["namespace"], asked.names["name"]
    rows = [
        one
        for one in registry.associations.every()
        if one.resource.name == name and namespace in (ANY, one.resource.namespace)
    ]
    return _page(asked, rows)


def associations_of_id(registry: Registry, asked: Asked) -> object:
    return _page(asked, list(registry.associations.of_resource(asked.names["id"])))


def associations_of_subject(registry: Registry, asked: Asked) -> object:
    return _page(asked, [one for one in registry.associations.every() if one.subject == asked.subject])


def delete_associations(registry: Registry, asked: Asked) -> object:
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
