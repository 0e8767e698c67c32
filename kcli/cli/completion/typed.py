"""The commands that Typer has and our tables have not, as far as a TAB needs them: importing Typer costs 90 ms and
more. tests/cli/completion/test_complete.py holds them against Typer's."""

from __future__ import annotations

from kcli.cli.parsing.option import Command, Option


def _options(*rows: tuple[str, str, str]) -> tuple[Option, ...]:
    """(flag, metavar, help); without a metavar it is a flag, with `|` in it a choice."""
    return tuple(
        Option(
            name=flag.strip("-").replace("-", "_"),
            flags=(flag,),
            kind="text" if metavar else "flag",
            metavar="" if "|" in metavar else metavar,
            choices=tuple(metavar.split("|")) if "|" in metavar else (),
            multiple=flag in ("--topic", "--rack"),
            help=help,
        )
        for flag, metavar, help in rows
    )


_CAT = {
    "-C": "", "-P": "", "-L": "", "-Q": "", "-G": "GROUP", "-t": "TOPIC", "-b": "SERVERS", "-p": "N", "-o": "WHERE",
    "-X": "PROPERTY", "-F": "FILE", "-z": "codec", "-D": "DELIM", "-K": "DELIM", "-k": "KEY", "-H": "NAME=VALUE",
    "-c": "N", "-f": "FORMAT", "-s": "SERDES", "-r": "URL", "-m": "SECONDS", "-e": "", "-J": "", "-u": "", "-q": "",
    "-v": "", "-l": "", "-Z": "", "-O": "", "-E": "", "-T": "", "-U": "",
}  # fmt: skip
_NAMES = {"-b": "bootstrap", "-X": "properties", "-z": "compression"}
"""kcat's letters, as far as what follows them has names."""

TYPED = {
    "cat": Command(
        name="cat",
        words="FILE",
        options=tuple(
            Option(
                name=_NAMES.get(flag, flag),
                flags=(flag,),
                kind="text" if metavar else "flag",
                metavar=metavar,
                multiple=flag in ("-X", "-H", "-t"),
            )
            for flag, metavar in _CAT.items()
        ),
    ),
    "sandbox": Command(
        name="sandbox",
        options=_options(
            ("--port", "N", "Port of the first broker."),
            ("--brokers", "N", "How many brokers."),
            ("--data", "FILE", "Keep everything in this folder."),
            ("--topic", "NAME", "Create this topic."),
            ("--partitions", "N", "How many partitions a topic has when nobody says it."),
            ("--host", "HOST", "Address to listen on."),
            ("--allow-remote", "", "Really listen on an address others can reach."),
            ("--no-allow-remote", "", "Only on this machine."),
            ("--auto-create", "", "Create topics that clients name."),
            ("--no-auto-create", "", "Do not create topics that clients name."),
            ("--tls", "FILE", "Speak TLS."),
            ("--client-ca", "FILE", "Want a client certificate of this authority."),
            ("--users", "FILE", "Want SASL of everybody."),
            ("--session-lifetime", "SECONDS", "Have them authenticate again."),
            ("--rack", "NAME", "The racks brokers are in, in turn."),
            ("--disks", "N", "How many log directories each broker says it has."),
            ("--super-user", "PRINCIPAL", "Obey ACLs; this one may everything."),
            ("--open-without-acl", "", "What no ACL is about is open to everybody."),
            ("--control", "", "Let this machine order faults."),
            ("--no-control", "", "Let nobody order faults."),
            ("--format", "plain|json", "How to print the address."),
        ),
    ),
    "demo": Command(
        name="demo",
        options=_options(
            ("--file", "FILE", "A text file to send."),
            ("--dashboard", "", "Open the dashboard afterwards."),
            ("--no-dashboard", "", "Do not open the dashboard."),
        ),
    ),
    "schema": Command(name="schema", words="SHAPE"),
    "completion": Command(name="completion", words="bash|zsh|fish"),
}
