"""`kcli tui`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION

TUI = Command(
    name="tui",
    run="kcli.cli.commands.tui.command:run",
    help="The dashboard: groups, lag, partitions, members, topics, records.",
    description="""Watch a cluster on the whole terminal. `?` shows the keys, `:` goes anywhere, `q` ends it.

Each screen shows the kcli command that does the same; `y` copies it. Keys are changed in keys.toml beside
config.toml, by the ids that --keys prints: "group.reset" = "R".

\b
Examples:
  kcli tui
  kcli tui group payments                  # begin with one group
  kcli tui --replay incident.ndjson        # , and . step, space plays, + and - change the speed
  kcli dash --profile prod --interval 2s""",
    words="PLACE",
    options=(
        Option(name="interval", flags=("--interval",), metavar="TIME", help="How often to look (default 5s)."),
        Option(name="window", flags=("--window",), metavar="TIME", help="What rates are taken over (default 60s)."),
        Option(name="replay", flags=("--replay",), metavar="FILE", help="Show a recording of `kcli lag record`."),
        Option(name="theme", flags=("--theme",), metavar="NAME", help="kcli-dark (default), kcli-light, or Textual's."),
        Option(name="keys", flags=("--keys",), kind="flag", help="Print the id of every key; keys.toml changes them."),
        Option(name="debug", flags=("--debug",), kind="flag", help="A line about memory, frames and queues."),
        *CONNECTION,
    ),
)
