"""The commands of `kcli produce`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='values', flags=('--value',), multiple=True, metavar='TEXT', help="A record's value. Repeatable.")
_1 = Option(name='tombstones', flags=('--tombstone',), multiple=True, metavar='KEY', help='A record with this key and no value. Repeatable.')
_2 = Option(name='repeat', flags=('--repeat',), kind='int', metavar='N', help='Send --value and --tombstone N times, with {{seq}}, {{uuid}} and {{now}} filled in.', least=1)
_3 = Option(name='rate', flags=('--rate',), metavar='RATE', help='At most this many records a second (500, 30/m).')
_4 = Option(name='whole', flags=('--whole',), kind='flag', help='Each FILE (or stdin) is one record.')
_5 = Option(name='input', flags=('--input',), help="lines (default), envelopes of consume -J, JSON values or an array of them, kcat's -J lines.", choices=('lines', 'json', 'json-values', 'kcat'))
_6 = Option(name='template', flags=('-f',), metavar='FORMAT', help='The form of a line: %s value, %k key, %h{NAME} header, %T time, %p.')
_7 = Option(name='value_format', flags=('--value-format',), help='msgpack: values are JSON, and are stored as msgpack.', choices=('plain', 'msgpack'))
_8 = Option(name='value_schema', flags=('--value-schema',), metavar='SPEC', help='Values are JSON, stored by a schema: topic[@VERSION], SUBJECT[@VERSION], id:N, file:PATH, from-record.')
_9 = Option(name='key_schema', flags=('--key-schema',), metavar='SPEC', help='The same for keys.')
_10 = Option(name='schema_registry', flags=('--schema-registry',), metavar='URL', help='Where the schemas are.')
_11 = Option(name='schema_in', flags=('--schema-in',), help='Name the schema in front of the payload (default), or by its GUID in a header.', choices=('frame', 'header'))
_12 = Option(name='register', flags=('--register',), kind='flag', help='Register the file of --value-schema or --key-schema.')
_13 = Option(name='without_rules', flags=('--without-rules',), kind='flag', help='Run no rules of the schema; one that encrypts refuses all the same.', hidden=True)
_14 = Option(name='no_unpack', flags=('--no-unpack',), kind='flag', help='Do not unpack input that is gzip or zstd.')
_15 = Option(name='key', flags=('-k', '--key'), metavar='KEY', help='Default key for records without one.')
_16 = Option(name='headers', flags=('-H', '--header'), multiple=True, metavar='NAME=VALUE', help='A header of every record; NAME alone is null. Repeatable.')
_17 = Option(name='partition', flags=('-p', '--partition'), kind='int', metavar='N', help='-1: by key (default).', least=-1)
_18 = Option(name='compression', flags=('-z', '--compression'), metavar='CODEC[:LEVEL]', help='none, gzip, snappy, lz4 or zstd.', also=('--compression-codec',))
_19 = Option(name='wait_for_topic', flags=('--wait-for-topic',), kind='flag', help='Wait for a topic that does not exist yet, up to max.block.ms.')
_20 = Option(name='acks', flags=('--acks',), help='Required acknowledgements (default: all).', choices=('all', '-1', '1', '0'))
_21 = Option(name='timestamp', flags=('--timestamp',), metavar='TIME', help='Timestamp for every record (default: now).')
_22 = Option(name='transactional_id', flags=('--transactional-id',), metavar='ID', help='Send all input in one transaction: committed at the end, aborted at an error or Ctrl-C.')
_23 = Option(name='batch', flags=('--batch',), kind='int', metavar='N', help='With --transactional-id: a transaction for every N records.', least=1)
_24 = Option(name='on_error', flags=('--on-error',), help='On malformed input: stop (default), or skip it and exit 1 at the end.', choices=('stop', 'skip'))
_25 = Option(name='report', flags=('--report',), metavar='FILE', help='Write a JSON line per settled batch.')
_26 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), panel='Names', folded=True)
_27 = Option(name='delimiter', flags=('-D',), metavar='DELIM', help='Delimiter after records: \\n (default), \\0, \\t, \\xNN, or text.', panel='Text', folded=True)
_28 = Option(name='key_delimiter', flags=('-K',), metavar='DELIM', help='Delimiter between key and value.', panel='Text', folded=True)
_29 = Option(name='nulls', flags=('-Z', '--null'), kind='flag', help='Send empty as null; print null as NULL.', panel='Text', folded=True)
_30 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_31 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_32 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_33 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_34 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_35 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_36 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_37 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_38 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_39 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='produce', run='kcli.cli.commands.produce.produce:produce', description='Read stdin, or the FILEs, a record a line. Exit 0 only if every record was acknowledged. On a terminal, kcli\nprompts and shows the partition and offset of each record. Input that is gzip or zstd is unpacked.\n\n-f has the tokens of consume -f; each takes the text up to the delimiter after it. With --repeat, {{seq}} counts\nrecords from 1, {{now}} is the time in UTC, and {{uuid}} is one id a record, in the key and headers too.\n\n\x08\nExamples:\n  kcli produce orders < orders.txt\n  kcli produce orders -K : -z zstd < keyed.txt        # key:value, compressed\n  kcli produce orders orders.txt.gz --rate 100/s      # unpacked, 100 records a second\n  kcli produce orders -k k -H source=shell --value v  # one record\n  kcli produce orders --tombstone ann --tombstone bob # keys without a value\n  kcli produce orders --repeat 1000 --value \'{"id": {{seq}}, "at": "{{now}}"}\'\n  kcli produce orders -f \'%k %h{trace} %s\' < lines    # key, a header and the value in a line\n  kcli produce orders --input json-values < list.json # each object of an array is a value\n  kcli produce orders --transactional-id load-1 < f   # all records or none\n  kcli produce orders --transactional-id load-1 --batch 1000 < f\n  kcli consume orders -e -J | kcli produce copy --input json', words='TOPIC [FILE]...', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39)),
}
