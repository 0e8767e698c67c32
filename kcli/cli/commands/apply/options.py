"""`kcli apply`, `kcli diff` and `kcli export`, declared."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.groups import UndoOptions
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION, DRY_RUN, EXECUTE, INTERNAL, NO_WAIT, OUTPUT

UNDO_FILE, NO_UNDO = UndoOptions.declared[:2]
PRUNE = Option(
    name="prune",
    flags=("--prune",),
    kind="flag",
    help="Remove, too: what the files call absent, and what is within their scope and in none of them.",
)
SECRETS = Option(
    name="secrets",
    flags=("--secrets",),
    kind="flag",
    help="Send passwords and secret configs again, which cannot be compared.",
)
KEEP_GOING = Option(
    name="keep_going",
    flags=("--keep-going",),
    kind="flag",
    help="Do what can be done, also when something else is refused.",
)
SCHEMA_SAID = """A FILE is YAML, TOML or JSON, a folder of such files, or - for stdin; `kcli schema apply file` prints
what may stand in it."""

APPLY = Command(
    name="apply",
    run="kcli.cli.commands.apply.command:apply",
    help="Make a cluster as files declare it: topics, configs, users, quotas, ACLs.",
    description=f"""Make topics, configs, users, quotas and ACLs as files declare them. The plan comes first, checked by
the brokers: + is made, ~ is changed, - goes; --execute does it. What no file names is left alone, nothing is removed
without --prune, and a second run changes nothing. What was there before is kept in an undo file, for apply to take.

{SCHEMA_SAID}

\b
Examples:
  kcli apply cluster.yaml                        # the plan
  kcli apply cluster.yaml --execute
  kcli apply topics/ acls.toml --execute
  kcli apply cluster.yaml --prune --dry-run      # what would go, too; checked by the brokers
  kcli export | kcli apply - -b other:9092 --execute

\b
A file:
  topics:
    orders:
      partitions: 6
      replication: 3
      configs: {{retention.ms: 7d, cleanup.policy: [compact, delete]}}
  users:
    alice:
      SCRAM-SHA-512: {{password: {{env: ALICE_PASSWORD}}}}
  quotas:
  - {{user: alice, producer_byte_rate: 10MiB}}
  acls:
  - {{principal: User:alice, allow: [read, describe], topic: orders}}""",
    words="FILE",
    options=(EXECUTE, DRY_RUN, PRUNE, SECRETS, KEEP_GOING, NO_WAIT, UNDO_FILE, NO_UNDO, *OUTPUT),
)
DIFF = Command(
    name="diff",
    run="kcli.cli.commands.apply.command:diff",
    help="What `kcli apply` would change; exit code 3 when there is something.",
    description=f"""Print how a cluster differs from what files declare. Exit code 3 when it does, 0 when it does not.

{SCHEMA_SAID}

\b
Examples:
  kcli diff cluster.yaml
  kcli diff topics/ --prune                      # also what is there and not declared
  kcli diff cluster.yaml -J | jq '.changes[].name'""",
    words="FILE",
    options=(PRUNE, *OUTPUT),
)
EXPORT = Command(
    name="export",
    run="kcli.cli.commands.apply.export:export",
    help="Write a cluster down as a file that `kcli apply` takes.",
    description="""Print topics, configs, users, quotas and ACLs as a file for `kcli apply`. To apply it to the same
cluster changes nothing. Passwords cannot be read: users get the name of an environment variable, secret configs are
left out. Not exported: records, offsets, and what is Kafka's own.

\b
Examples:
  kcli export > cluster.yaml
  kcli export --only topics --match 'orders*' --format toml
  kcli export -b old:9092 | kcli apply - -b new:9092 --execute""",
    options=(
        Option(
            name="only", flags=("--only",), multiple=True, metavar="SECTION",
            help="Only this section: topics, configs, users, quotas or acls. Repeatable.",
        ),
        Option(
            name="match", flags=("--match",), multiple=True, metavar="PATTERN",
            help="Only what is named so, as a scope names it: orders-*, ^REGEX, group/billing, User:a*. Repeatable.",
        ),
        Option(name="format", flags=("--format",), choices=("yaml", "toml", "json"), help="Default yaml."),
        INTERNAL,
        *CONNECTION,
    ),
)  # fmt: skip
