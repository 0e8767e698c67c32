"""A small shell: command lines as a user types them, with kcli in this process and other programs beside it.

It knows `|`, `<`, `>`, `>>`, `2>`, `&&`, quotes, `$NAME` outside single quotes and `NAME=value` before a command. A
line that ends in `&` is a process that runs until it has printed a line and gets a Ctrl-C.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kcli import redact
from kcli.cli.main import main
from tests.cli.conftest import ROOT, redirected
from tests.pipeline import class_archive

OPERATORS = {"|", "<", ">", ">>", "2>", "&&"}
WORD = re.compile(r"""\s*(2>|&&|>>|[|<>]|(?:'[^']*'|"[^"]*"|\\.|[^\s'"|<>&\\])+)""")
LIMIT = 30
"""Seconds that a program beside kcli may take."""


@dataclass
class Stage:
    """One command of a pipeline."""

    words: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Printed:
    """What a line printed, and its exit code."""

    code: int
    out: str
    err: str


class Lines:
    """Runs lines in a folder, with a home of its own. With `width` the stdout of the last command of a line is a
    pseudo-terminal of so many columns, where it is kcli's."""

    def __init__(self, folder: Path, *, width: int = 0, **variables: str) -> None:
        self.folder, self.width = folder, width
        script = folder / "bin" / "kcli"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m kcli "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        class_archive.share(folder)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KCLI_")},
            "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "XDG_CACHE_HOME": str(folder / ".cache"),
            "XDG_STATE_HOME": str(folder / ".state"),
            **variables,
        }

    def run(self, line: str) -> Printed:
        """Run a line. The exit code is that of its last command."""
        if line.endswith(" &"):
            return self._interrupted(shlex.split(line.removesuffix("&")))
        code, out, err = 0, b"", b""
        for pipeline in self._parse(line):
            data = b""
            for stage in pipeline:
                code, data, said = self._stage(stage, data, self.width if stage is pipeline[-1] else 0)
                err += said
            out += data
            if code:
                break
        return Printed(code, out.decode(errors="replace"), err.decode(errors="replace"))

    def _interrupted(self, words: list[str]) -> Printed:
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment
        ) as process:
            try:
                assert process.stdout is not None
                first = process.stdout.readline()
                process.send_signal(signal.SIGINT)
                rest, err = process.communicate(timeout=LIMIT)
            finally:
                process.kill()
        return Printed(process.returncode, first + rest, err)

    def _parse(self, line: str) -> Iterator[list[Stage]]:
        """The pipelines between `&&`."""
        words = WORD.findall(line)
        pipeline, stage = [], Stage()
        while words:
            word = words.pop(0)
            if word in ("<", ">", ">>", "2>"):
                stage.files[word] = self._plain(words.pop(0))
            elif word in OPERATORS:
                pipeline.append(stage)
                if word == "&&":
                    yield pipeline
                    pipeline = []
                stage = Stage()
            elif not stage.words and re.match(r"[A-Z_]+=", word):
                name, _, value = word.partition("=")
                stage.variables[name] = self._plain(value)
            else:
                stage.words.append(self._plain(word))
        yield [*pipeline, stage]

    def _plain(self, word: str) -> str:
        """A word without its quotes, its variables filled in."""
        pieces = re.findall(r"'[^']*'|[^']+", word)
        filled = (piece if piece.startswith("'") else re.sub(r"\$(\w+)", self._variable, piece) for piece in pieces)
        return "".join(shlex.split("".join(filled))) if word else ""

    def _variable(self, match: re.Match[str]) -> str:
        return self.environment[match[1]]

    def _stage(self, stage: Stage, data: bytes, width: int) -> tuple[int, bytes, bytes]:
        """Run one command: exit code, stdout, stderr."""
        if "<" in stage.files:
            data = (self.folder / stage.files["<"]).read_bytes()
        if stage.words[0] == "kcli":
            code, out, err = self._inside(stage, data, 0 if {">", ">>"} & stage.files.keys() else width)
        else:
            code, out, err = self._beside(stage, data)
        for sign, mode in ((">", "wb"), (">>", "ab")):
            if sign in stage.files:
                with (self.folder / stage.files[sign]).open(mode) as file:
                    file.write(out)
                out = b""
        if "2>" in stage.files:
            (self.folder / stage.files["2>"]).write_bytes(err)
            err = b""
        return code, out, err

    def _inside(self, stage: Stage, data: bytes, width: int) -> tuple[int, bytes, bytes]:
        """Run kcli in this process, which is quick; it has forgotten what it hid before."""
        redact._sent.clear()
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as err, Output(width) as out:
            given.write(data)
            given.seek(0)
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(self.folder)
                for name in [name for name in os.environ if name.startswith("KCLI_")]:
                    patch.delenv(name)
                for name, value in {**self.environment, **stage.variables}.items():
                    patch.setenv(name, value)
                with redirected(given.fileno(), out.fd, err.fileno()):
                    code = main(stage.words[1:])
            err.seek(0)
            return code, out.text(), err.read()

    def _beside(self, stage: Stage, data: bytes) -> tuple[int, bytes, bytes]:
        done = subprocess.run(
            stage.words, input=data, capture_output=True, timeout=LIMIT, cwd=self.folder,
            env={**self.environment, **stage.variables},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr


class Output:
    """A file, or a pseudo-terminal of `width` columns, for what a command prints."""

    def __init__(self, width: int) -> None:
        self._written = bytearray()
        if not width:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by __exit__
            self.fd, self._screen = self._file.fileno(), -1
            return
        self._screen, self.fd = os.openpty()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(self._screen, 65536):
                self._written += data

    def text(self) -> bytes:
        """All that was written. Nothing is written after that."""
        if self._screen < 0:
            self._file.seek(0)
            return self._file.read()
        os.close(self.fd)
        self.fd = -1
        self._reader.join()
        return bytes(self._written).replace(b"\r\n", b"\n")

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        if self._screen < 0:
            self._file.close()
            return
        if self.fd >= 0:
            os.close(self.fd)
            self._reader.join()
        os.close(self._screen)
