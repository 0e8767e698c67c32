"""The hot commands, declared: one table for the quick parser, Typer, help and completion."""

from __future__ import annotations

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.shared_options import CONNECTION

TOPIC = Option(
    name="topics", flags=("-t", "--topic"), multiple=True, metavar="TOPIC", help="The topic, instead of an argument."
)
PARTITIONS = Option(
    name="partitions", flags=("-p", "--partition"), metavar="N,N-N", help="Only these partitions, such as 0,3-5."
)
OFFSET = Option(
    name="offset",
    flags=("-o", "--offset"),
    multiple=True,
    metavar="OFFSET",
    help="beginning, end, stored, N, -N (from the end), +N, N:M, :end, @t1, @t1:, @t1:t2, s@ms, e@ms.",
)
END = Option(name="exit_at_end", flags=("-e", "--exit"), kind="flag", help="Stop at the end as it was at the start.")
COUNT = Option(
    name="count",
    flags=("-c", "-n", "--count", "--max-messages"),
    kind="int",
    least=0,
    metavar="N",
    help="Stop after N records.",
)
FORMAT = Option(
    name="template",
    flags=("-f",),
    metavar="FORMAT",
    help="%s %S %R value, its length, as 4 bytes; %k %K key; %T ms; %h headers; %t %p %o; {hex} {base64} {iso} …",
)
JSON = Option(name="json", flags=("-J", "--json"), kind="flag", help="One JSON envelope a line; produce reads it back.")
ORDER = Option(
    name="order",
    flags=("--order",),
    choices=("offset", "time"),
    help="time: merged by time over partitions and topics; offset: one partition after another. Else as it comes.",
)
DELIMITER = Option(
    name="delimiter", flags=("-D",), metavar="DELIM", help=r"Between records: \n (default), \0, \t, \xNN, or text."
)
KEY_DELIMITER = Option(name="key_delimiter", flags=("-K",), metavar="DELIM", help="Between key and value.")
NULLS = Option(
    name="nulls", flags=("-Z", "--null"), kind="flag", help="Empty is null when producing; null is NULL when printing."
)
UNBUFFERED = Option(name="unbuffered", flags=("-u",), kind="flag", help="Write every record by itself.")
ISOLATION = Option(
    name="isolation",
    flags=("--isolation",),
    choices=("read_committed", "read_uncommitted"),
    help="read_committed hides aborted and undecided transactions. Default: read_uncommitted.",
)
COMMITTED = ISOLATION.replace(help="Default: read_committed, which hides aborted and undecided transactions.")
SKIP_CORRUPT = Option(
    name="skip_corrupt",
    flags=("--skip-corrupt",),
    kind="flag",
    help="Leave out batches that are damaged, and say which; else exit 1 at the first.",
)
TIMEOUT = Option(
    name="timeout_ms",
    flags=("--timeout-ms",),
    kind="int",
    least=0,
    metavar="MS",
    help="Exit 4 when no record came for so long.",
)
RAW = Option(name="raw", flags=("--raw",), kind="flag", help="Control bytes as they are, on a terminal too.")
GREP = Option(
    name="grep", flags=("--grep",), multiple=True, metavar="RE", help="Only values in which this is found. Repeatable."
)
ONLY_KEYS = Option(
    name="only_keys",
    flags=("--key",),
    multiple=True,
    metavar="KEY",
    help="Only records with this key. Repeatable: any.",
)
KEY_GREP = Option(
    name="key_grep", flags=("--key-grep",), multiple=True, metavar="RE", help="Only keys in which this is found."
)
ONLY_HEADERS = Option(
    name="only_headers",
    flags=("--header",),
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Only records with this header. Repeatable.",
)
WHERE = Option(
    name="where",
    flags=("--where",),
    multiple=True,
    metavar="CONDITION",
    help="Only records for which it holds, such as 'value.user.id == 42'.",
)
VALUE_FORMAT = Option(
    name="value_format",
    flags=("--value-format",),
    choices=("auto", "json", "msgpack", "url"),
    help="How a condition, or a time field, reads values. url: a=1&b=2.",
)
FILTERS = (GREP, ONLY_KEYS, KEY_GREP, ONLY_HEADERS, WHERE, VALUE_FORMAT)
TIMES = (
    Option(name="start", flags=("--start",), metavar="TIME", help="Only records from this time on: ISO 8601, -1h, …"),
    Option(name="end", flags=("--end",), metavar="TIME", help="Only records before this time; stop there."),
    Option(
        name="time_field",
        flags=("--time-field",),
        metavar="NAME",
        help="Times are those of this field in the value, such as ts or event.ts; else the records' timestamps.",
    ),
    Option(
        name="jitter",
        flags=("--jitter",),
        metavar="LENGTH",
        help="By how much the field's times may go back from record to record (default 1m).",
    ),
)
FAIL_IF_NONE = Option(
    name="fail_if_none", flags=("--fail-if-none",), kind="flag", help="Exit 3 when no record was written."
)
PRINTING = (FORMAT, JSON, DELIMITER, KEY_DELIMITER, NULLS, UNBUFFERED, RAW)

PRODUCE = Command(
    name="produce",
    run="kcli.cli.commands.produce.command:run",
    help="Send lines, files or JSON envelopes as records.",
    description="""Read stdin, or the FILEs, a record a line. Exit 0 only if every record was acknowledged.

\b
Examples:
  kcli produce orders < orders.txt
  kcli produce orders -K : -z zstd < keyed.txt        # key:value, compressed
  kcli produce orders -k k -H source=shell --value v  # one record
  kcli produce orders --transactional-id load-1 < f   # all of it or nothing
  kcli produce orders --transactional-id load-1 --batch 1000 < f
  kcli consume orders -e -J | kcli produce copy --input json""",
    words="TOPIC [FILE]...",
    options=(
        *CONNECTION,
        Option(name="topics", flags=("-t", "--topic"), multiple=True, metavar="TOPIC", help=TOPIC.help),
        Option(name="values", flags=("--value",), multiple=True, metavar="TEXT", help="A record's value. Repeatable."),
        Option(name="whole", flags=("--whole",), kind="flag", help="Each FILE (or stdin) is one record."),
        Option(
            name="input",
            flags=("--input",),
            choices=("lines", "json", "kcat"),
            help="What the input is: lines (default), envelopes of consume -J, or kcat's -J lines.",
        ),
        Option(name="key", flags=("-k", "--key"), metavar="KEY", help="The key of records that have none."),
        KEY_DELIMITER,
        DELIMITER,
        Option(
            name="headers",
            flags=("-H", "--header"),
            multiple=True,
            metavar="NAME=VALUE",
            help="A header of every record; NAME alone is null. Repeatable.",
        ),
        NULLS,
        Option(
            name="partition",
            flags=("-p", "--partition"),
            kind="int",
            least=-1,
            metavar="N",
            help="-1: by key (default).",
        ),
        Option(
            name="compression",
            flags=("-z", "--compression"),
            metavar="CODEC[:LEVEL]",
            help="none, gzip, snappy, lz4 or zstd.",
        ),
        Option(name="acks", flags=("--acks",), choices=("all", "-1", "1", "0"), help="Who must have it (default all)."),
        Option(name="timestamp", flags=("--timestamp",), metavar="TIME", help="Of every record; else now."),
        Option(
            name="transactional_id",
            flags=("--transactional-id",),
            metavar="ID",
            help="All input in one transaction: committed at the end, aborted at an error or Ctrl-C.",
        ),
        Option(
            name="batch",
            flags=("--batch",),
            kind="int",
            least=1,
            metavar="N",
            help="With --transactional-id: a transaction for every N records.",
        ),
        Option(
            name="on_error",
            flags=("--on-error",),
            choices=("stop", "skip"),
            help="At input that is no record: stop (default), or skip it and exit 1 at the end.",
        ),
        Option(name="report", flags=("--report",), metavar="FILE", help="Write a JSON line per settled batch."),
    ),
)
