"""The hot commands, declared: one table for the quick parser, Typer, help and completion."""

from __future__ import annotations

from kcli.cli.parsing.option import Option

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
