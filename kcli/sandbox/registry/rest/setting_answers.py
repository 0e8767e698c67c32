"""What a registry answers about compatibility, modes, contexts and itself: a function a request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.sandbox.registry import refusals
from kcli.sandbox.registry.names import DEFAULT, GLOBAL, split
from kcli.sandbox.registry.refusals import Refused
from kcli.sandbox.registry.registry import Registry, number_of
from kcli.sandbox.registry.rest.asked import Asked
from kcli.sandbox.registry.scoped import MODES, Scoped
from kcli.sandbox.registry.store import Version
from kcli.serde.avro.compatibility import LEVELS
from kcli.version import __version__


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
