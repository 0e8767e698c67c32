"""The JSON schema of a declared cluster, printed by `kcli schema apply file` and used by reading.py for checking.

In YAML every scalar is read as text, so `number` and `integer` also accept a text that is one.
"""

from __future__ import annotations

from typing import Any

from kcli.acls import KINDS, OPERATIONS
from kcli.admin.quotas import KEYS
from kcli.admin.users import MECHANISMS
from kcli.schemas import KINDS as KINDS_OF_SCHEMAS

Schema = dict[str, Any]

ID = "kcli.declared/1"
VALUE: Schema = {"type": ["string", "number", "boolean"]}
NAME: Schema = {"type": "string", "minLength": 1}
SECTIONS = ("topics", "configs", "users", "quotas", "acls", "schemas")


def _map(values: Schema, about: str = "") -> Schema:
    return {"type": "object", "additionalProperties": values, **({"description": about} if about else {})}


def _object(about: str, properties: dict[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    found: Schema = {"type": "object", "description": about, "properties": properties, "additionalProperties": False}
    return found | ({"required": list(required)} if required else {})


def _list(values: Schema, about: str = "") -> Schema:
    return {"type": "array", "items": values, **({"description": about} if about else {})}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _some(values: Schema, about: str) -> Schema:
    """One, or a list of them."""
    return {"anyOf": [values, _list(values)], "description": about}


INHERIT = _list(NAME, "Names of configs whose overrides are removed (they inherit the default).")
COUNT: Schema = {"type": "integer", "minimum": 1}
DEFS: dict[str, Schema] = {
    "secret": _object("Where a secret is kept; never in the file itself.", {
        "env": NAME | {"description": "An environment variable."},
        "file": NAME | {"description": "A file, from the folder of this one."},
        "keyring": NAME | {"description": "SERVICE/USER in the keyring."},
        "command": _some(VALUE, "A command that prints it."),
        "timeout": {"type": "number", "description": "Seconds that the command may take."},
    }),
    "setting": {"anyOf": [VALUE, _list(VALUE), _ref("secret")]},
    "settings": {"type": "object", "properties": {"inherit": INHERIT}, "additionalProperties": _ref("setting"),
                 "description": "Values by name; *.ms accept 7d, 12h, 30m, 45s; *.bytes accept 1GiB, 10MB."},
    "topic": _object("A topic. Settings that are not given get the broker default when it is created, and stay "
                     "unchanged later.", {
        "partitions": COUNT, "replication": COUNT | {"description": "Replicas of each partition."},
        "configs": _map(_ref("setting")), "inherit": INHERIT,
    }),
    "login": _object("A SCRAM credential. Its password cannot be compared: it is sent when the rest differs.", {
        "iterations": {"type": "integer", "minimum": 4096, "maximum": 16384}, "password": _ref("secret"),
    }),
    "quota": _object("Quotas of a user, a client-id, a user with a client-id, or an ip; <default> is all others.", {
        "user": NAME, "client-id": NAME, "ip": NAME, **dict.fromkeys(KEYS, VALUE), "inherit": INHERIT,
    }),
    "subject": _object("A subject of a schema registry: its latest schema, in a file or here, and its level.", {
        "file": NAME | {"description": "The schema's file, from the folder of this one."},
        "schema": NAME | {"description": "The schema's text."},
        "type": {"type": "string", "enum": list(KINDS_OF_SCHEMAS), "description": "Default: by the file's end, AVRO."},
        "compatibility": {"type": "string", "description": "BACKWARD, full-transitive, …"},
        "references": _list(_object("Schemas that this schema imports.", {
            "name": NAME, "subject": NAME, "version": COUNT | {"description": "Default: the latest."},
        }, ("name", "subject"))),
    }),
    "acl": _object("ACLs: each principal and host, each resource, each operation.", {
        "principal": _some(NAME, "User:NAME."),
        "host": _some(NAME, "An address, or a block such as 10.1.0.0/16; else any."),
        "allow": _some({"type": "string", "enum": list(OPERATIONS)}, "Operations."),
        "deny": _some({"type": "string", "enum": list(OPERATIONS)}, "Operations."),
        **{kind: _some(NAME, f"Names of {kind}s; * is every one.") for kind in KINDS if kind != "cluster"},
        "cluster": {"type": "boolean", "description": "The cluster itself."},
        "pattern": {"type": "string", "enum": ["literal", "prefixed"], "description": "What the names mean."},
    }, ("principal",)),
}  # fmt: skip
SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A declared Kafka cluster",
    **_object("The state that a cluster is changed to, or compared with.", {
        "schema": {"const": ID},
        "taken": _list(_map(VALUE), "In an undo file: when, and of which cluster."),
        "scope": _object(
            "The scope of these files: pruning removes resources that match it and are in no file. Patterns work like "
            "a shell's; configs as KIND/NAME, quotas as `user alice`, acls by principal.",
            {section: _list(NAME) for section in SECTIONS},
        ),
        "defaults": _object("What holds for each topic of this file that does not say otherwise.", {
            "partitions": COUNT, "replication": COUNT, "configs": _map(_ref("setting")),
        }),
        "topics": _map(_ref("topic"), "By name."),
        "configs": _object("Configs of other resources than topics, by name.", {
            "broker": _map(_ref("settings"), "By id; default is all brokers."),
            "group": _map(_ref("settings")), "client-metrics": _map(_ref("settings")),
        }),
        "users": _map(_object("SCRAM credentials by mechanism.", {name: _ref("login") for name in MECHANISMS}),
                      "By name."),
        "quotas": _list(_ref("quota")),
        "acls": _list(_ref("acl")),
        "schemas": _map(_ref("subject"), "By subject."),
        "absent": _object("Resources that must not exist; only pruning removes them.", {
            "topics": _list(NAME), "acls": _list(_ref("acl")), "schemas": _list(NAME),
            "users": _map(_list({"type": "string", "enum": list(MECHANISMS)}), "Mechanisms by user."),
        }),
    }),
    "$defs": DEFS,
}  # fmt: skip
