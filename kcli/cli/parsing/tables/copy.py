"""The commands of `kcli copy`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='follow', flags=('--follow',), kind='flag', help='Go on with what comes, until Ctrl-C.')
_1 = Option(name='count', flags=('-c', '-n', '--count', '--max-messages'), kind='int', metavar='N', help='Stop after N records.', least=0)
_2 = Option(name='repartition', flags=('--repartition',), kind='flag', help='Choose partitions anew, by key.')
_3 = Option(name='compression', flags=('-z', '--compression'), metavar='CODEC[:LEVEL]', help='Compress anew. Else batches stay as they are.', also=('--compression-codec',))
_4 = Option(name='create', flags=('--create',), kind='flag', help='Make DST with the partitions and configs of SRC, where it is missing.')
_5 = Option(name='group', flags=('-g', '--group'), metavar='NAME', help="Under which name the source's cluster keeps how far this is (default: a name of its own).")
_6 = Option(name='store_every', flags=('--commit-interval-ms',), kind='int', metavar='MS', help='How often positions are kept, and transactions committed (default 5000).', least=1)
_7 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Publish nothing: how many records, by partition and time.')
_8 = Option(name='named_topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), word=True, panel='Names', folded=True)
_9 = Option(name='literal', flags=('--literal',), kind='flag', help="No patterns. Else a glob ('orders-*') or '^RE' (how a name begins) matches.", panel='Names', folded=True)
_10 = Option(name='isolation', flags=('--isolation',), help='Default: read_committed.', choices=('read_committed', 'read_uncommitted'), also=('--isolation-level',))
_11 = Option(name='partitions', flags=('-p', '--partition'), metavar='N,N-N', help='Only these partitions, such as 0,3-5.')
_12 = Option(name='offset', flags=('-o', '--offset'), multiple=True, metavar='OFFSET', help='Start, or START:STOP: 5, -10, 5:9, @-1h, end.')
_13 = Option(name='grep', flags=('--grep',), multiple=True, metavar='RE', help='Only values in which this is found. Repeatable.', panel='Filters', folded=True)
_14 = Option(name='only_keys', flags=('--key',), multiple=True, metavar='KEY', help='Only records with this key. Repeatable: any.', panel='Filters', folded=True)
_15 = Option(name='key_grep', flags=('--key-grep',), multiple=True, metavar='RE', help='Only keys in which this is found.', panel='Filters', folded=True)
_16 = Option(name='only_headers', flags=('--header',), multiple=True, metavar='NAME[=VALUE]', help='Only records with this header. Repeatable.', panel='Filters', folded=True)
_17 = Option(name='where', flags=('--where',), multiple=True, metavar='CONDITION', help="Only records for which it holds, such as 'value.user.id == 42'.", panel='Filters', folded=True)
_18 = Option(name='value_format', flags=('--value-format',), help='How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2.', choices=('auto', 'json', 'msgpack', 'url'), panel='Filters', folded=True)
_19 = Option(name='skip_corrupt', flags=('--skip-corrupt',), kind='flag', help='Leave out batches that are damaged, and say which; else exit 1 at the first.', panel='Filters', folded=True)
_20 = Option(name='to_profile', flags=('--to-profile',), metavar='NAME', help="The profile of DST's cluster.", panel='Destination')
_21 = Option(name='to_bootstrap', flags=('--to-bootstrap', '--to-bootstrap-server'), metavar='HOST:PORT,…', help="Where DST's cluster listens.", panel='Destination')
_22 = Option(name='to_properties', flags=('--to-X', '--to-property'), multiple=True, metavar='KEY=VALUE', help="A property for DST's cluster and producer. Repeatable.", panel='Destination')
_23 = Option(name='rate', flags=('--rate',), metavar='RATE', help='At most this many records a second (500), or bytes (10MB).')
_24 = Option(name='restart', flags=('--restart',), kind='flag', help='Begin anew, whatever was kept.')
_25 = Option(name='no_resume', flags=('--no-resume',), kind='flag', help='Keep no positions, and look for none.')
_26 = Option(name='exactly_once', flags=('--exactly-once',), kind='flag', help='Records and positions in one transaction; within one cluster.')
_27 = Option(name='transactional_id', flags=('--transactional-id',), metavar='ID', help='Of --exactly-once; a second process with it fences the first. Else the name of the positions.')
_28 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_29 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_30 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_31 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.', panel='Connection', folded=True)
_32 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_33 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_34 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_35 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.', panel='Connection', folded=True)
_36 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.', panel='Connection', folded=True)
_37 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.', panel='Connection', folded=True)
_38 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.', panel='Connection', folded=True)
_39 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='copy', run='kcli.cli.commands.copy.copy:copy', description="Copy the records of SRC to DST: key, value, headers, timestamp and partition stay. It ends at the end as it was\nat the start, unless --follow. Batches that need no change go on as they are, compressed.\n\nHow far it is, is kept in the source's cluster after the records were acknowledged; run again, it goes on there. So\nrecords may be published twice after an interruption, and none is left out; with --exactly-once neither. -o -N\ncounts from the end: a whole copy of the last N is begun anew when it is run again, one that was cut short goes on.\nRead is read_committed unless --isolation says otherwise.\n\nSRC may be a pattern: its topics are copied one after another, * in DST is the name of each.\n\n\x08\nExamples:\n  kcli copy orders orders-2\n  kcli copy orders orders --to-profile staging --create\n  kcli copy 'orders-*' '*' --to-profile staging --create    # each topic that matches, under its name\n  kcli copy orders fixed -o @-1d: --where 'value.total < 0' --dry-run\n  kcli copy orders orders-6 --repartition -z zstd --rate 10MB\n  kcli copy orders orders-2 --exactly-once --follow", words='SRC DST', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39)),
}
