"""Which kind of name an option or an argument has, by its name or metavar."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.option import Option

ARGUMENTS = {
    "TOPIC": "topics", "SRC": "topics", "DST": "topics", "DLQ": "topics", "GROUP": "groups", "SOURCE": "groups",
    "TARGET": "groups", "PROFILE": "profiles", "FILE": "files", "PLACE": "places",
    "SHAPE": "shapes", "DIR": "files", "PATH": "files", "WHERE": "files", "KIND": "kinds", "NAME": "named",
    "OTHER": "named", "KEY": "keys", "KEY=VALUE": "assignments", "ID": "ids", "TXN": "transactions",
    "API": "apis", "VOTER": "ids", "BROKER": "ids",
    "OPERATION": "operations", "RESOURCE": "acl kinds", "USER": "users", "TOKEN": "tokens", "PRINCIPAL": "principals",
    "MECHANISM": "mechanisms",
    "FILE|TOPIC": "plans", "WHICH": "asked", "SUBJECT": "subjects", "SCHEMA": "subjects", "CONTEXT": "contexts",
    "FOLDER|FILE": "files", "FOLDER": "files",
    "QUOTA": "quotas", "QUOTA=VALUE": "quota values", "user|client-id|ip": "entities",
}  # fmt: skip
OPTIONS = {
    "bootstrap": "servers", "to_bootstrap": "servers", "profile": "profiles", "to_profile": "profiles",
    "confirm": "profiles", "properties": "properties", "to_properties": "properties", "broker_map": "map",
    "configs": "configs", "states": "states", "types": "types", "compression": "codecs", "offset": "offsets",
    "group": "groups", "from_group": "groups", "trace_file": "files", "report": "files", "groups": "groups",
    "delete_configs": "topic keys", "only": "sections", "operations": "operations", "txn_states": "txn states",
    "columns": "columns", "sort": "columns", "subject": "subjects", "context": "contexts",
    "value_schema": "specs", "key_schema": "specs",
}  # fmt: skip


def kind_of(option: Option) -> str:
    """What an option's value names."""
    metavar = option.metavar.partition("[")[0]
    if option.name in OPTIONS:
        return OPTIONS[option.name]
    if metavar == "WHERE":
        return "offsets"
    return ARGUMENTS.get(metavar, "")
