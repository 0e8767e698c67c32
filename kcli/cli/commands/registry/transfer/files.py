"""A snapshot of a registry in a folder or a file."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from kcli.cli.documents.input_file import read_text
from kcli.cli.output.written import check as check_file
from kcli.cli.output.written import written
from kcli.errors import KcliError, UsageError
from kcli.registry.folder import COMPATIBILITY, SETTINGS, files_of, outdated_by, setting_file
from kcli.registry.moving.document import ID, document_of, snapshot_of
from kcli.system.files import DOCUMENT
from kcli.system.files import read as read_whole
from kcli.text.json_object import JsonObject, json_object

if TYPE_CHECKING:
    from kcli.registry.moving.snapshot import Snapshot
    from kcli.schemas import Schema

FILES = (".yaml", ".yml", ".json")


def is_file(path: str) -> bool:
    """Whether a snapshot at this path is one file, and not a folder."""
    return path == "-" or path.endswith(FILES)


def check(path: str, *, force: bool) -> None:
    """Raises UsageError where nothing can be written to."""
    if path != "-" and is_file(path):
        check_file(path, "", force=force)
    if not is_file(path) and os.path.lexists(path) and not os.path.isdir(path):
        raise UsageError(f"{path}: not a folder; a file must end with {', '.join(FILES)}")


def write(path: str, snapshot: Snapshot, *, force: bool) -> int:
    """Write the snapshot; how many files it is. A file of a folder may be there already with the same content. Raises
    UsageError, KcliError."""
    if is_file(path):
        from kcli.declared.writing import text_of

        format = "json" if path.endswith(".json") else "yaml"
        data = text_of({"schema": ID, "subjects": document_of(snapshot)}, format).encode()
        if path == "-":
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            with written(path, "", force=force) as file:
                file.write(data)
        return 1
    files = _in_folder(path, snapshot)
    changed = {name: text.encode() for name, text in files if not _holds(name, text)}
    old = [name for one in snapshot.schemas for name in outdated_by(path, one, deleted=_is_deleted(snapshot, one))]
    try:
        for name in (*changed, *filter(os.path.lexists, old)):
            os.makedirs(os.path.dirname(name), exist_ok=True)
            check_file(name, "", force=force)
        for name, data in changed.items():
            with written(name, "", force=force) as file:
                file.write(data)
        for name in filter(os.path.lexists, old):
            os.remove(name)
    except OSError as problem:
        raise KcliError(f"{problem.filename or path}: {problem.strerror}") from None
    return len(files)


def _holds(path: str, text: str) -> bool:
    """Whether a file is there with this text, by its own name."""
    data = text.encode()
    try:
        return not os.path.islink(path) and read_whole(path, len(data)) == data
    except OSError:  # it is another one, or none
        return False


def _is_deleted(snapshot: Snapshot, schema: Schema) -> bool:
    return (schema.subject, schema.version) in snapshot.deleted


def _in_folder(path: str, snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the paths and texts of all files."""
    files = [one for each in snapshot.schemas for one in files_of(path, each, deleted=_is_deleted(snapshot, each))]
    files += [setting_file(path, subject, COMPATIBILITY, level) for subject, level in snapshot.levels.items()]
    for subject in {**snapshot.settings, **snapshot.modes}:
        mode = {"mode": snapshot.modes[subject]} if subject in snapshot.modes else {}
        text = json.dumps({**snapshot.settings.get(subject, {}), **mode}, indent=2, ensure_ascii=False)
        files.append(setting_file(path, subject, SETTINGS, text))
    return files


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
