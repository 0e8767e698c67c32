"""The constants of socket and signal are integers after a lean start, until an enum of theirs is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

LEAN = """
from kcli.cli.runtime.startup.fast_start import start_lean
start_lean()
import signal, socket, sys
"""

pytestmark = pytest.mark.process


def lean(code: str) -> str:
    return subprocess.check_output([sys.executable, "-c", LEAN + code], text=True, timeout=60)


def test_constants_are_integers_and_work() -> None:
    assert (
        lean(
            "one, other = socket.socketpair()\n"
            "print(type(socket.AF_INET), type(signal.SIGINT), type(one.family), one.type == socket.SOCK_STREAM)\n"
            "print(signal.signal(signal.SIGUSR1, signal.SIG_IGN) == signal.SIG_DFL)\n"
            "print(signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN, type(signal.getsignal(signal.SIGUSR1)))"
        )
        == "<class 'int'> <class 'int'> <class 'int'> True\nTrue\nTrue <class 'int'>\n"
    )


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("signal.Signals(9).name", "SIGKILL"),
        ("signal.Signals.SIGINT.name", "SIGINT"),
        ("signal.Signals['SIGTERM'].value", "15"),
        ("[mask.name for mask in signal.Sigmasks]", "['SIG_BLOCK', 'SIG_UNBLOCK', 'SIG_SETMASK']"),
        ("len(signal.Handlers)", "2"),
        ("signal.Signals.SIGINT in signal.Signals", "True"),
        ("int | socket.AddressFamily", "int | socket.AddressFamily"),
        ("socket.AddressFamily | None", "socket.AddressFamily | None"),
        ("isinstance(2, signal.Signals)", "False"),
        ("socket.AddressFamily.AF_INET.name", "AF_INET"),
        ("socket.SocketKind(1).name", "SOCK_STREAM"),
        ("(socket.MsgFlag.MSG_PEEK | socket.MsgFlag.MSG_OOB).name", "MSG_OOB|MSG_PEEK"),
    ],
)
def test_a_use_of_an_enum_makes_it(use: str, said: str) -> None:
    assert lean(f"print({use})") == f"{said}\n"


def test_the_constants_become_members_with_their_enum() -> None:
    printed = lean("signal.Signals(1)\nprint(repr(signal.SIGINT), signal.Signals, type(socket.AF_INET))")
    assert printed == "<Signals.SIGINT: 2> <enum 'Signals'> <class 'int'>\n"


def test_other_enums_are_made_at_once() -> None:
    """ssl makes its own enums in the same way."""
    assert lean("import ssl, re; print(ssl.TLSVersion.TLSv1_3.name, type(ssl.CERT_NONE).__name__, re.M.name)") == (
        "TLSv1_3 VerifyMode MULTILINE\n"
    )


def test_a_killed_child_is_named_by_its_signal() -> None:
    assert (
        lean(
            "import subprocess\n"
            "try: subprocess.check_call([sys.executable, '-c', 'import os; os.kill(os.getpid(), 9)'])\n"
            "except subprocess.CalledProcessError as problem: print(problem)"
        ).rpartition("died with ")[2]
        == "<Signals.SIGKILL: 9>.\n"
    )
