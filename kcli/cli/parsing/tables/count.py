"""The commands of `kcli count`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='offset', flags=('-o', '--offset'), multiple=True, metavar='OFFSET', help='Only of this range, such as @-1h:now.')
_1 = Option(name='format', flags=('--format',), help='Rows per partition instead of one number.', choices=('plain', 'table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'))
_2 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_3 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), panel='Names', folded=True)
_4 = Option(name='literal', flags=('--literal',), kind='flag', help="No patterns. Else a glob ('orders-*') or '^RE' (how a name begins) matches.", panel='Names', folded=True)
_5 = Option(name='partitions', flags=('-p', '--partition'), metavar='N,N-N', help='Only these partitions, such as 0,3-5.')
_6 = Option(name='isolation', flags=('--isolation',), help='Default: read_uncommitted.', choices=('read_committed', 'read_uncommitted'), also=('--isolation-level',), folded=True)
_7 = Option(name='start', flags=('--start',), metavar='TIME', help='Only records from this time on: 09:00, -1h, today.')
_8 = Option(name='end', flags=('--end',), metavar='TIME', help='Only records before this time.')
_9 = Option(name='time_field', flags=('--time-field',), metavar='NAME', help="Times are those of this field in the value, such as ts or event.ts; else the records' timestamps.", panel='Times in values', folded=True)
_10 = Option(name='jitter', flags=('--jitter',), metavar='DURATION', help="By how much the field's times may go back from record to record (default 1m).", panel='Times in values', folded=True)
_11 = Option(name='value_format', flags=('--value-format',), help='How --where and --time-field read values; consume and tail print msgpack as JSON. url: a=1&b=2.', choices=('auto', 'json', 'msgpack', 'url'), panel='Times in values', folded=True)
_12 = Option(name='grep', flags=('--grep',), multiple=True, metavar='RE', help='Only values in which this is found. Repeatable.', panel='Filters', folded=True)
_13 = Option(name='only_keys', flags=('--key',), multiple=True, metavar='KEY', help='Only records with this key. Repeatable: any.', panel='Filters', folded=True)
_14 = Option(name='key_grep', flags=('--key-grep',), multiple=True, metavar='RE', help='Only keys in which this is found.', panel='Filters', folded=True)
_15 = Option(name='only_headers', flags=('--header',), multiple=True, metavar='NAME[=VALUE]', help='Only records with this header. Repeatable.', panel='Filters', folded=True)
_16 = Option(name='where', flags=('--where',), multiple=True, metavar='CONDITION', help="Only records for which it holds, such as 'value.user.id == 42'.", panel='Filters', folded=True)
_17 = Option(name='skip_corrupt', flags=('--skip-corrupt',), kind='flag', help='Leave out batches that are damaged, and say which; else exit 1 at the first.', panel='Filters', folded=True)
_18 = Option(name='schema_registry', flags=('--schema-registry',), metavar='URL', help='Decode keys and values by the schemas of this registry.', panel='Schemas', folded=True)
_19 = Option(name='value_schema', flags=('--value-schema',), metavar='SPEC', help='The schema of values: file:PATH, id:N, SUBJECT[@VERSION], topic[@VERSION].', panel='Schemas', folded=True)
_20 = Option(name='key_schema', flags=('--key-schema',), metavar='SPEC', help='The schema of keys, in the same forms.', panel='Schemas', folded=True)
_21 = Option(name='raw_value', flags=('--raw-value',), kind='flag', help='Do not decode, also where the profile names a registry.', panel='Schemas', folded=True)
_22 = Option(name='logical', flags=('--logical',), help='Dates, times and decimals as text (default), or as stored.', choices=('text', 'raw'), panel='Schemas', folded=True)
_23 = Option(name='avro_json', flags=('--avro-json',), kind='flag', help="Avro's own JSON: unions name their branch, bytes are strings.", panel='Schemas', folded=True)
_24 = Option(name='fail_on_undecoded', flags=('--fail-on-undecoded',), kind='flag', help='Exit 1 if a key or value could not be decoded.', panel='Schemas', folded=True)
_25 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_26 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_27 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_28 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_29 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.', panel='Connection', folded=True)
_30 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_31 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_32 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_33 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.', panel='Connection', folded=True)
_34 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.', panel='Connection', folded=True)
_35 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.', panel='Connection', folded=True)
_36 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.', panel='Connection', folded=True)
_37 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.', panel='Connection', folded=True)
_38 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_39 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='No line of titles in tables, CSV and TSV.', panel='Output', folded=True)

COMMANDS = {
    '': Command(name='count', run='kcli.cli.commands.consume.count:count', description="Count what `consume` would print: markers and compacted gaps are not records; with --isolation read_committed\naborted records are none either.\n\n\x08\nExamples:\n  kcli count orders\n  kcli count orders -o @-1h:now                       # of the last hour\n  kcli count orders --start -1h --time-field event.ts # by a time in the values\n  kcli count orders --where 'value.total > 100'       # of some\n  kcli count 'orders-*' payments --format table       # of all topics that match, by partition", words='TOPIC...', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39)),
}
