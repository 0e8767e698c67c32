"""The files of a declared cluster: YAML, TOML and JSON, folders of them, stdin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from kcli.cli.documents.input_file import read_file
from kcli.declared.model import Declared
from kcli.errors import UsageError
from kcli.system.files import TEXT

ENDINGS = (".yaml", ".yml", ".toml", ".json")


def read(words: list[str]) -> Declared:
    """All that the files declare. Raises UsageError: what is wrong with the first that is not right, with its line."""
    from kcli.declared.reading import declared

    if not words:
        raise UsageError("missing argument: FILE, a folder, or - for stdin")
    paths = dict.fromkeys(path for word in words for path in _files(word))
    documents = [("stdin" if path == "-" else path, _document(path)) for path in paths]
    if all(document is None for _, document in documents):
        raise UsageError(f"{', '.join(words)}: the file declares nothing")
    return declared(documents)


def _files(word: str) -> Iterator[str]:
    if word == "-" or not os.path.isdir(word):
        yield word
        return
    paths = []
    for folder, folders, names in os.walk(word):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [os.path.join(folder, name) for name in names if name.endswith(ENDINGS) and not name.startswith(".")]
    if not paths:
        raise UsageError(f"{word}: no file in this folder ends with {', '.join(ENDINGS)}")
    yield from sorted(paths)


def _document(path: str) -> Any:
    data = read_file(path, TEXT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: this is not UTF-8 text") from None
    if path.endswith(".toml"):
        from kcli.cli.documents.toml_reader import load
    else:
        from kcli.cli.documents.yaml_reader import load
    return load(text, "stdin" if path == "-" else path)
