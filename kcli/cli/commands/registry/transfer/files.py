"""A snapshot of a registry in a folder or a file."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from kcli.cli.documents.input_file import read_text
from kcli.errors import KcliError, UsageError
from kcli.registry.folder import COMPATIBILITY, SETTINGS, save, save_setting
from kcli.registry.moving.document import ID, document_of, snapshot_of
from kcli.system.files import DOCUMENT
from kcli.text.json_object import JsonObject, json_object

if TYPE_CHECKING:
    from kcli.registry.moving.snapshot import Snapshot

FILES = (".yaml", ".yml", ".json")


def is_file(path: str) -> bool:
    """Whether a snapshot at this path is one file, and not a folder."""
    return path == "-" or path.endswith(FILES)


def check(path: str) -> None:
    """Raises UsageError where nothing can be written to."""
    if path != "-" and is_file(path) and os.path.lexists(path):
        raise UsageError(f"{path}: the file exists; name a new one")
    if not is_file(path) and os.path.lexists(path) and not os.path.isdir(path):
        raise UsageError(f"{path}: not a folder; a file ends with {', '.join(FILES)}")


def write(path: str, snapshot: Snapshot) -> int:
    """Write the snapshot; how many files it is. Raises KcliError."""
    try:
        if not is_file(path):
            return len(_in_folder(path, snapshot))
        from kcli.declared.writing import text_of

        format = "json" if path.endswith(".json") else "yaml"
        data = text_of({"schema": ID, "subjects": document_of(snapshot)}, format).encode()
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            with open(path, "xb") as file:
                file.write(data)
    except OSError as problem:
        raise KcliError(f"{problem.filename or path}: {problem.strerror}") from None
    return 1


def _in_folder(path: str, snapshot: Snapshot) -> list[str]:
    written = []
    for schema in snapshot.schemas:
        written += save(path, schema, deleted=(schema.subject, schema.version) in snapshot.deleted)
    written += [save_setting(path, subject, COMPATIBILITY, level) for subject, level in snapshot.levels.items()]
    for subject in {**snapshot.settings, **snapshot.modes}:
        mode = {"mode": snapshot.modes[subject]} if subject in snapshot.modes else {}
        text = json.dumps({**snapshot.settings.get(subject, {}), **mode}, indent=2, ensure_ascii=False)
        written.append(save_setting(path, subject, SETTINGS, text))
    return written


def read(path: str) -> Snapshot:
    """The snapshot of a file. Raises UsageError."""
    whole = _document(path)
    try:
        if whole.text("schema") != ID:
            raise ValueError(f"its schema is {whole.text('schema')[:60]}, expected {ID}")
        return snapshot_of(whole.fields.get("subjects", {}))
    except RecursionError:
        raise UsageError(f"{path}: nested too deeply") from None
    except ValueError as problem:
        raise UsageError(f"{path}: not an export of a registry ({problem})") from None


def _document(path: str) -> JsonObject:
    from kcli.cli.documents.yaml_reader import load

    try:
        return json_object(load(read_text(path, DOCUMENT), path), "")
    except ValueError as problem:
        raise UsageError(f"{path}: {problem}") from None
