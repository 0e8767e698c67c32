"""bash, zsh and fish as a person has them: in a terminal, with a keyboard. `said_after` types a line, presses TAB, puts
`echo` before what then stands there, and returns what the shell made of it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 20.0
ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?=>]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[=>78])")
BEGIN = "\x01"  # Ctrl-A: to the beginning of the line
KILL = "\x0b"  # Ctrl-K: to the end of the line
QUIET = 0.08


class Terminal:
    """One shell in a pty, with completions switched on as docs/connect.md and README.md say."""

    def __init__(self, name: str, folder: Path, bootstrap: str, **environment: str) -> None:
        self.name = name
        home = folder / f"home-{name}"
        program = home / "bin" / "kcli"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kcli "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        variables = {
            "HOME": str(home), "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
            "TERM": "xterm", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "KCLI_BOOTSTRAP": bootstrap, **environment,
        }  # fmt: skip
        argv = [shutil.which(name) or name]
        if name == "bash":
            (home / ".bashrc").write_text('PS1="\\$ "\nbind "set bell-style none"\neval "$(kcli completion bash)"\n')
            argv += ["--noprofile", "-i"]
        elif name == "zsh":
            (home / ".zshrc").write_text('PS1="$ "\nbindkey -e\nunsetopt beep\neval "$(kcli completion zsh)"\n')
            argv += ["-i"]
        else:
            scripts = home / ".config" / "fish" / "completions"
            scripts.mkdir(parents=True)
            shutil.copy(ROOT / "completions" / "kcli.fish", scripts)
            (scripts.parent / "config.fish").write_text("function fish_prompt; echo '$ '; end\nset -g fish_greeting\n")
            argv += ["-i"]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execve(argv[0], argv, variables)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.home = home
        self.seen = b""
        self._answered = 0
        self.type("echo rea''dy\r")
        self.wait("\nready")

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def read(self, seconds: float) -> bool:
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            self.seen += os.read(self.fd, 65536)
        except OSError:
            raise AssertionError(f"{self.name} ended: {self.seen!r}") from None
        if (
            self.seen.count(b"\x1b[c") + self.seen.count(b"\x1b[0c") > self._answered
        ):  # "what are you?": newer fish waits
            self._answered += 1
            os.write(self.fd, b"\x1b[?62;c")
        return True

    def settle(self, seconds: float = LIMIT) -> None:
        """Until the shell says nothing for a moment."""
        until = time.monotonic() + seconds
        while self.read(QUIET):
            assert time.monotonic() < until, self.seen

    def wait(self, pattern: str, seconds: float = LIMIT) -> re.Match[str]:
        """Until the pattern was printed. Raises AssertionError at the deadline."""
        until = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.plain())
            if found is not None:
                return found
            assert time.monotonic() < until, (self.name, self.plain())
            self.read(0.05)

    def plain(self) -> str:
        return ESCAPES.sub(b"", self.seen).decode(errors="replace").replace("\r", "")

    def said_after(self, line: str, tabs: int = 1) -> str:
        """The line after TAB, as `echo` has it."""
        self.type(line)
        self.settle()
        for _ in range(tabs):
            self.tab()
        return self.echo()

    def tab(self) -> None:
        """TAB, and what comes of it: within the longest time that kcli may take, or nothing."""
        self.type("\t")
        until = time.monotonic() + 0.4
        while time.monotonic() < until and not self.read(0.02):
            continue
        self.settle()

    def echo(self) -> str:
        """What stands on the line, said by `echo`, which runs it: whatever was inserted would act now. Nothing where
        the shell says nothing: a completion that came late may have left a quote open."""
        self.type(f"{BEGIN}echo '<''<' ")
        self.settle()
        self.seen = b""
        self.type("\x05 '>''>'\r")
        try:
            return self.wait(r"(?s)\n<< (.*?) ?>>", 5.0).group(1).strip()
        except AssertionError:
            self.type("\x03")  # or the next line would go on with this one
            self.settle()
            return ""

    def listed(self, line: str) -> str:
        """What the shell prints at a second TAB; the line is thrown away then."""
        self.type(line)
        self.settle()
        self.seen = b""
        self.tab()
        self.tab()
        text = self.plain()
        for _ in range(2):  # fish's first one closes its list only
            self.type("\x03")
            self.settle()
        self.type(f"{BEGIN}{KILL}")  # a shell that was slow to redraw may have taken both for its list
        self.settle()
        return text
