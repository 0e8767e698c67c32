"""The commands of `kcli redrive`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, only the plan is shown.')
_1 = Option(name='count', flags=('-c', '-n', '--count', '--max-messages'), kind='int', metavar='N', help='Stop after N records.', least=0)
_2 = Option(name='topic_headers', flags=('--topic-header',), multiple=True, metavar='NAME', help='A header that names the original topic. Repeatable.')
_3 = Option(name='partition_headers', flags=('--partition-header',), multiple=True, metavar='NAME', help='A header with its partition: digits, or int32 in bytes. Repeatable.')
_4 = Option(name='to', flags=('--to',), metavar='TOPIC', help='Where records without such a header go.')
_5 = Option(name='missing', flags=('--missing',), help='Records without such a header: fail (default), or skip them.', choices=('fail', 'skip'))
_6 = Option(name='on_error', flags=('--on-error',), help='At a record that fails: stop in front of it (default), or skip it and exit 1 at the end.', choices=('stop', 'skip'))
_7 = Option(name='keep_headers', flags=('--keep-headers',), kind='flag', help='Headers about the error stay.')
_8 = Option(name='max_attempts', flags=('--max-attempts',), kind='int', metavar='N', help='Leave out records that went back N times (default 3).', least=1)
_9 = Option(name='repartition', flags=('--repartition',), kind='flag', help='Choose partitions anew, by key.')
_10 = Option(name='now', flags=('--now',), kind='flag', help="The present time instead of the record's.")
_11 = Option(name='group', flags=('-g', '--group'), metavar='NAME', help='Under which name the cluster keeps how far this is (default kcli-redrive.DLQ).')
_12 = Option(name='isolation', flags=('--isolation',), help='Default: read_committed, which hides aborted and undecided transactions.', choices=('read_committed', 'read_uncommitted'))
_13 = Option(name='partitions', flags=('-p', '--partition'), metavar='N,N-N', help='Only these partitions, such as 0,3-5.')
_14 = Option(name='offset', flags=('-o', '--offset'), multiple=True, metavar='OFFSET', help='beginning, end, stored, N, -N (from the end), +N, N:M, :end, @t1, @t1:, @t1:t2, s@ms, e@ms.')
_15 = Option(name='grep', flags=('--grep',), multiple=True, metavar='RE', help='Only values in which this is found. Repeatable.')
_16 = Option(name='only_keys', flags=('--key',), multiple=True, metavar='KEY', help='Only records with this key. Repeatable: any.')
_17 = Option(name='key_grep', flags=('--key-grep',), multiple=True, metavar='RE', help='Only keys in which this is found.')
_18 = Option(name='only_headers', flags=('--header',), multiple=True, metavar='NAME[=VALUE]', help='Only records with this header. Repeatable.')
_19 = Option(name='where', flags=('--where',), multiple=True, metavar='CONDITION', help="Only records for which it holds, such as 'value.user.id == 42'.")
_20 = Option(name='value_format', flags=('--value-format',), help='How a condition, or a time field, reads values. url: a=1&b=2.', choices=('auto', 'json', 'msgpack', 'url'))
_21 = Option(name='skip_corrupt', flags=('--skip-corrupt',), kind='flag', help='Leave out batches that are damaged, and say which; else exit 1 at the first.')
_22 = Option(name='rate', flags=('--rate',), metavar='N', help='At most N records a second, or bytes: 500, 10MB.')
_23 = Option(name='restart', flags=('--restart',), kind='flag', help='Begin anew, whatever was kept.')
_24 = Option(name='no_resume', flags=('--no-resume',), kind='flag', help='Keep no positions, and look for none.')
_25 = Option(name='exactly_once', flags=('--exactly-once',), kind='flag', help='Records and positions in one transaction; within one cluster.')
_26 = Option(name='transactional_id', flags=('--transactional-id',), metavar='ID', help='Of --exactly-once; a second process with it fences the first. Else the name of the positions.')
_27 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')
_28 = Option(name='format', flags=('--format',), help='Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))
_29 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_30 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.')
_31 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.')
_32 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.')
_33 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.')
_34 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.')
_35 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.')
_36 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.')
_37 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.')
_38 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.')
_39 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.')

COMMANDS = {
    '': Command(name='redrive', run='kcli.cli.commands.redrive.redrive:redrive', description='Send each record of a dead-letter topic back to its original topic, as its headers name it: those of Kafka\nConnect, Kafka Streams, Spring, Spring Cloud Stream and SmallRye are known, others are named by --topic-header.\nWithout --execute it only shows what would go where.\n\nKey, value, timestamp, the record\'s own headers and, where the topic still has it, the partition stay; headers about\nthe error are taken off. The header kcli-redrive-attempts counts how often a record went back; --max-attempts ends a\nloop.\n\nHow far it is, is kept after the records were acknowledged; run again, it goes on there. Other filters, and an -o to\nbegin at, begin their own count. Records may be published twice after an interruption, and none is left out; with\n--exactly-once neither.\n\n\x08\nExamples:\n  kcli redrive orders-dlq                                         # the plan, by target\n  kcli redrive orders-dlq --execute\n  kcli redrive orders-dlq --execute --where \'matches(headers["__connect.errors.exception.message"], "timeout")\'\n  kcli redrive orders-dlq --execute --rate 100 --on-error skip\n  kcli redrive dead --topic-header source-topic --to unknown --execute', words='DLQ', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39)),
}
