"""`kcli config`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import FORMAT, JSON, OUTPUT, QUIET

CONFIG: dict[str, Command] = {
    "list": Command(
        name="list",
        run="kcli.cli.commands.config.command:list_all",
        help="Profiles of the project and of the user.",
        description="""List the profiles of .kcli.toml (up to the git root) and of config.toml.

\b
Examples:
  kcli config list
  kcli config list --format plain | cut -f1""",
        options=(FORMAT, JSON, QUIET),
    ),
    "show": Command(
        name="show",
        run="kcli.cli.commands.config.command:show",
        help="What is in effect, and where each value comes from.",
        description="""Print the properties in effect, each with the option, the variable or the file and
line it is from. Secrets are hidden and nothing is looked up: sources are named, commands are not run.

\b
Examples:
  kcli config show prod
  kcli config show --profile prod -X linger.ms=50 --all      # defaults too""",
        words="[PROFILE]",
        options=(Option(name="all", flags=("--all",), kind="flag", help="Defaults too."), *OUTPUT),
    ),
    "check": Command(
        name="check",
        run="kcli.cli.commands.config.command:check",
        help="Whether profiles make sense.",
        description="""Check profiles without connecting: names, values, files. `kcli doctor` tries the way there.

\b
Examples:
  kcli config check
  kcli config check prod --secrets      # look secrets up too, and open keys with them""",
        words="[PROFILE]...",
        options=(
            Option(
                name="secrets", flags=("--secrets",), kind="flag", help="Look secrets up (commands are run), open keys."
            ),
            FORMAT,
            JSON,
            QUIET,
        ),
    ),
    "import": Command(
        name="import",
        run="kcli.cli.commands.config.importing:run",
        help="Clusters of kcat, kaf, kafkactl, kcl, rpk or a .properties file as profiles.",
        description="""Print the clusters of another tool's configuration as profiles. --write adds them to config.toml.

\b
Examples:
  kcli config import kaf                               # from ~/.kaf/config
  kcli config import client.properties --name prod
  kcli config import kafkactl --only prod --write""",
        words="kcat|kaf|kafkactl|kcl|rpk|properties [FILE]",
        options=(
            Option(name="name", flags=("--name",), metavar="NAME", help="What to call the profile."),
            Option(name="only", flags=("--only",), multiple=True, metavar="NAME", help="Only this one. Repeatable."),
            Option(name="write", flags=("--write",), kind="flag", help="Add them to config.toml, with their secrets."),
            Option(name="to", flags=("--to",), metavar="FILE", help="Another file for --write, such as .kcli.toml."),
            Option(name="force", flags=("--force",), kind="flag", help="Replace profiles of the same names."),
            Option(name="reveal", flags=("--reveal",), kind="flag", help="Print secrets too."),
            QUIET,
        ),
    ),
    "path": Command(
        name="path",
        run="kcli.cli.commands.config.command:path",
        help="Where config.toml is, or would be.",
        description="""Print the path of config.toml, whether it is there or not.

\b
Examples:
  $EDITOR "$(kcli config path)\"""",
        options=(QUIET,),
    ),
}
