"""Topics of the help: what many commands share, explained once. `kcli help` lists them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.cli.parsing.command import Command

OFFSETS = """\
Where to start and stop reading (-o of consume, tail, count, copy; --to of
groups reset; --before of topics trim):

  beginning, end         The first record; after the last one.
  stored                 The group's committed offset.
  4711                   This offset of each partition.
  -10                    The last 10 records of each partition.
  +10                    10 records after the first one.
  100:200                From offset 100 up to, not including, 200.
  :end                   Up to the end seen when reading began.
  @TIME, @TIME:TIME      Records since a time; in a time range.
  @-1h:now               The last hour.
  0=5,1=@-1h             A start for each partition.
  s@MS, e@MS             kcat's start and end in milliseconds.

-o can be given twice: once for the start, once for the stop. A stop is
exclusive. `kcli help times` explains TIME.

Times select records by their own timestamps, in whatever order they are in
the log: kcli reads up to the end seen at the start. --ordered stops at the
first timestamp past the range, for logs in time order. s@ and e@ stand for
the first offsets at these times. -N counts records, not offsets.

  kcli consume orders -o -10 -e
  kcli consume orders -o @2026-03-01T09:00Z:2026-03-01T10:00Z
  kcli groups reset billing -t orders --to @-2h --dry-run
"""

TIMES = """\
A time, wherever an option takes TIME:

  2026-03-01T09:00Z      ISO 8601; without a zone it is local time.
  -1h, -30m, -7d         Before now.
  today, yesterday       Midnight of this or the last day, by local time.
  07:30                  Today at this local time.
  now                    When the command began.
  1772355600             Seconds since 1970 (10 digits), else milliseconds.

A duration, wherever an option takes DURATION: 500ms, 30s, 5m, 1h30m, 7d, 2w,
seconds without a unit (30), and ISO 8601 (PT1H30M).

Plans and notes repeat a time with its zone. Printed times are UTC.

Times in values: with --time-field event.ts, --start and --end refer to that
field of the value (JSON, msgpack or a URL query). kcli finds the offsets, reads
--jitter more on both sides and filters exactly. Numbers are seconds,
milliseconds, microseconds or nanoseconds, depending on their size.

  kcli consume orders --start -1h --end now
  kcli consume orders --start -1h --end now --time-field event.ts --jitter 5m
"""

WHERE = """\
--where 'CONDITION' keeps the records for which the condition is true.

  Names       value (the JSON or msgpack document, else text), key (text, or
              JSON if it is an object), headers (the last of a name, as text),
              topic, partition, offset, timestamp (milliseconds)
  Fields      value.user.id   value["user"]   value.items[0]
              value.items[*].sku: true if any element matches
  Operators   == != < <= > >=   =~ 'RE'   in   and or not   + - * / // %
  Functions   startswith endswith contains matches lower upper len number

A missing field is null. < and > are false for null, and between a number and a
string. value.name =~ 'RE' and matches(value.name, 'RE') search for a regular
expression, with a time limit.
--value-format sets how values are read. -n counts the records that are kept.

  kcli consume orders -e --where 'value.user.id == 42'
  kcli consume orders -e --where 'value.total > 100 and key.startswith("eu-")'
  kcli count orders --where 'headers["type"] == "refund"'
"""

FORMAT = r"""
-f FORMAT prints records with kcat's tokens:

  %s %v  value        %S %V  its length in bytes    %R  the length as 4 bytes
  %k     key          %K     its length in bytes    %h  headers
  %t     topic        %p     partition              %o  offset
  %T     timestamp in milliseconds                  %%  a percent sign

Added in braces: %s{json} %s{msgpack} %s{hex} %k{base64} %k{int32} (or another
number), %T{iso} %T{local} %T{strftime[%F %T]}, %h{trace} (that header's
value), %h{%k=%v;} (a template for each header).
Escapes: \n \t \r \0 \xNN. A null prints as nothing, with -Z as NULL.

  kcli consume orders -e -f '%T{iso} %p %o %k %s\n'
  kcli tail orders -f '%h{%k=%v;}\t%s\n'
"""

PATTERNS = """\
Wherever a topic or group is named, a pattern matches many names:

  'orders-*'             A glob: * any text, ? any character, [ab] one of these.
  '^orders-'             A regular expression for the beginning of the name.
  '^orders-[0-9]+$'      ... and for the whole name.

The exact name of an existing topic or group is never read as a pattern.
--literal switches patterns off. Kafka's internal topics only match patterns
with --internal. Quote patterns, or the shell may expand them. A command that
deletes or alters shows the matching names in its plan first.

  kcli topics list 'orders-*'
  kcli consume '^orders-' -e --order time
  kcli topics delete 'tmp-*' --dry-run
"""

CLUSTERS = """\
A command uses the cluster named by the first of these that is set:

  -b HOST:PORT,...       The servers on the command line.
  --profile NAME         A profile in config.toml or .kcli.toml.
  KCLI_BOOTSTRAP         The servers in the environment.
  KCLI_PROFILE           A profile in the environment.
  .kcli.toml             A project's file, in this folder or above, up to the
                         root of its repository.
  default_profile        The default in ~/.config/kcli/config.toml.

Properties of Java and librdkafka are read from -F FILE and -X KEY=VALUE, and
from KCLI_* variables (KCLI_SASL_USERNAME). `kcli config current` or `kcli
config show` shows which value is used and where it comes from; `kcli doctor`
explains why a connection fails. `kcli sandbox` starts a broker to try things.
"""

EXIT_CODES = """\
Exit codes:

  0      done
  1      failure, even of only one of several items
  2      usage: the command line or a file is wrong, and nothing was done
  3      an assertion did not hold (lag --max-lag, diff, --fail-if-none)
  4      timed out waiting (--timeout)
  5      could not connect or authenticate
  130    interrupted by Ctrl-C before everything was done
  129    ended by SIGHUP
  143    ended by SIGTERM

stdout contains only data; notes, progress, prompts and errors go to stderr.
With --format json a failure is a JSON document, too.
"""

SCRIPTS = """\
For scripts and CI:

  --format json|ndjson|csv|tsv|yaml   Rows for programs; -J is --format json.
  --format plain                      Values only, between tabs.
  --format csv-safe                   For spreadsheets: text is never a formula.
  --columns A,B, --no-headers         Only these columns; no titles.
  kcli schema COMMAND                 The JSON schema of what a command prints.
  kcli COMMAND --help-json            The command's options as JSON.
  --timeout DURATION                  Exit 4 if the condition is not reached.
  --execute, --dry-run                Apply a plan; print it only.
  --execute --expect N                Delete by pattern, if N names match.
  lag --max-lag N                     Exit 3 if a group lags by more.
  consume --fail-if-none              Exit 3 if no record matched.
  KCLI_BOOTSTRAP, KCLI_PROFILE        The cluster, from the environment.
  NO_COLOR                            No colours.

On a terminal kcli shows the plan and asks for confirmation, which --yes or
--execute gives. Without a terminal only --execute changes anything; --yes alone
is a usage error. `kcli history` lists the changes, `kcli undo N` undoes one.
"""

SCHEMAS = """\
Keys and values whose first bytes name a schema (Confluent's frame) are decoded
by consume, tail and count: Avro and Protobuf as JSON, JSON Schema as it is.

  --schema-registry URL  https://HOST:PORT, or file:FOLDER with ids/7.avsc.
  schema.registry.url    The same as a property, in a profile, -X or -F.
  --value-schema SPEC    The schema for showing values, and for payloads without
                         a frame: file:PATH, id:N, SUBJECT[@VERSION],
                         topic[@VERSION].
  --key-schema SPEC      The same for keys.
  --value-subject NAME   The subject of topic: topic, record, topic-record,
  --key-subject NAME     associated (value.subject.name.strategy), or a name.
  --no-schema-cache      Neither use nor keep schemas in the cache folder.
  --raw-value            Do not decode.
  --logical raw          Dates, times and decimals as they are stored.
  --avro-json            Avro's own JSON: {"int": 1}, bytes as strings.
  --validate             Check values against their JSON schema.
  --fail-on-invalid      The same, and exit 1 if a value does not match.
  --proto-names json     Protobuf field names in lowerCamelCase.
  --fail-on-undecoded    Exit 1 if a key or value could not be decoded.

Filters, templates and -J use decoded values; --envelope has the stored bytes. A
value that cannot be decoded is shown as stored, and counted in a note at the
end.

kcli produce --value-schema SPEC reads JSON and stores Avro, Protobuf or JSON
that the schema allows; --register puts a file into the registry.

  kcli consume orders -e --schema-registry http://localhost:8081
  kcli produce orders --value-schema topic -X schema.registry.url=http://sr:8081
  kcli consume orders -e --schema-registry file:schemas --where 'value.id == 7'
"""

TABLES = """\
Lists are tables. A table fits the terminal: columns for which there is no room
are named below it, and long names get their own line, so no name is cut.
Counts, bytes and rates are rounded on a terminal; offsets, ids, epochs and
partitions never are. A pipe gets all columns and all digits.

  --wide             Show all columns, uncut, with exact numbers.
  --columns A,B      Print these columns in this order, hidden ones too.
  --sort COLUMN      Amounts, durations and times largest first, everything else
                     smallest first. COLUMN:asc and COLUMN:desc set the order.
  --top N            Print the first N rows.
  --no-headers       Print no titles.
  -w, --watch        Refresh until Ctrl-C, in place on a terminal.
  --interval 10s     Refresh interval of --watch; --refreshes N stops it.

Columns have the names of `kcli schema COMMAND`, such as under_replicated. An
error for an unknown name lists the names. Rows without a value come last.

  kcli topics list --sort partitions --top 5
  kcli lag --columns group,lag,status --watch
  kcli logdirs replicas --sort size --top 10 --no-headers
"""

TOPICS = {
    "offsets": ("Where to start and stop reading: -o.", OFFSETS),
    "times": ("Times and durations, including times in values.", TIMES),
    "where": ("Filter records by a condition: --where.", WHERE),
    "format": ("Print records with a template: -f.", FORMAT.lstrip("\n")),
    "patterns": ("Match many topics or groups: globs and ^RE.", PATTERNS),
    "schemas": ("Decode keys and values with a schema registry.", SCHEMAS),
    "tables": ("Fit, sort, limit and watch tables.", TABLES),
    "clusters": ("Choose a cluster: options, profiles, environment.", CLUSTERS),
    "exit-codes": ("What the exit codes mean.", EXIT_CODES),
    "scripts": ("Formats, time limits and assertions for scripts and CI.", SCRIPTS),
}
"""By name: the line in the list, and the text."""
EXPLAINED = {
    **dict.fromkeys(("offset", "before", "to"), "offsets"),
    **dict.fromkeys(("at", "start", "time_field"), "times"),
    "where": "where",
    "template": "format",
    "literal": "patterns",
    "schema_registry": "schemas",
    "sort": "tables",
    "bootstrap": "clusters",
}
"""Which topic explains an option, by the option's name."""


def see_also(command: Command) -> list[str]:
    """The topics that explain options of a command, in the order of TOPICS."""
    names = {EXPLAINED.get(option.name) for option in command.options}
    return [name for name in TOPICS if name in names]


def topic(name: str) -> str | None:
    """The text of a topic; None for an unknown one."""
    found = TOPICS.get(name)
    return found[1] if found else None


def listed() -> str:
    """What `kcli help` prints: the topics, a line each."""
    width = max(map(len, TOPICS))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (line, _) in TOPICS.items())
    return f"""Usage: kcli help TOPIC
       kcli help COMMAND
       kcli help WORD      everything that mentions it
       kcli help commands  all commands, one per line

Topics:
{rows}

`kcli --help` lists the subjects; `kcli help --json` declares all commands as JSON.
"""
