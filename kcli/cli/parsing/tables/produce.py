"""The commands of `kcli produce`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='values', flags=('--value',), multiple=True, metavar='TEXT', help="A record's value. Repeatable.")
_1 = Option(name='whole', flags=('--whole',), kind='flag', help='Each FILE (or stdin) is one record.')
_2 = Option(name='input', flags=('--input',), help="What the input is: lines (default), envelopes of consume -J, or kcat's -J lines.", choices=('lines', 'json', 'kcat'))
_3 = Option(name='key', flags=('-k', '--key'), metavar='KEY', help='The key of records that have none.')
_4 = Option(name='headers', flags=('-H', '--header'), multiple=True, metavar='NAME=VALUE', help='A header of every record; NAME alone is null. Repeatable.')
_5 = Option(name='partition', flags=('-p', '--partition'), kind='int', metavar='N', help='-1: by key (default).', least=-1)
_6 = Option(name='compression', flags=('-z', '--compression'), metavar='CODEC[:LEVEL]', help='none, gzip, snappy, lz4 or zstd.', also=('--compression-codec',))
_7 = Option(name='acks', flags=('--acks',), help='Who must have it (default all).', choices=('all', '-1', '1', '0'))
_8 = Option(name='timestamp', flags=('--timestamp',), metavar='TIME', help='Of every record; else now.')
_9 = Option(name='transactional_id', flags=('--transactional-id',), metavar='ID', help='All input in one transaction: committed at the end, aborted at an error or Ctrl-C.')
_10 = Option(name='batch', flags=('--batch',), kind='int', metavar='N', help='With --transactional-id: a transaction for every N records.', least=1)
_11 = Option(name='on_error', flags=('--on-error',), help='At input that is no record: stop (default), or skip it and exit 1 at the end.', choices=('stop', 'skip'))
_12 = Option(name='report', flags=('--report',), metavar='FILE', help='Write a JSON line per settled batch.')
_13 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.', also=('--topics',), panel='Names', folded=True)
_14 = Option(name='delimiter', flags=('-D',), metavar='DELIM', help='Between records: \\n (default), \\0, \\t, \\xNN, or text.', panel='Text', folded=True)
_15 = Option(name='key_delimiter', flags=('-K',), metavar='DELIM', help='Between key and value.', panel='Text', folded=True)
_16 = Option(name='nulls', flags=('-Z', '--null'), kind='flag', help='Empty is null when producing; null is NULL when printing.', panel='Text', folded=True)
_17 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_18 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.', panel='Connection', folded=True)
_19 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_20 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_21 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_22 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.', panel='Connection', folded=True)
_23 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.', panel='Connection', folded=True)
_24 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.', panel='Connection', folded=True)
_25 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.', panel='Connection', folded=True)
_26 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='produce', run='kcli.cli.commands.produce.produce:produce', description='Read stdin, or the FILEs, a record a line. Exit 0 only if every record was acknowledged.\n\n\x08\nExamples:\n  kcli produce orders < orders.txt\n  kcli produce orders -K : -z zstd < keyed.txt        # key:value, compressed\n  kcli produce orders -k k -H source=shell --value v  # one record\n  kcli produce orders --transactional-id load-1 < f   # all of it or nothing\n  kcli produce orders --transactional-id load-1 --batch 1000 < f\n  kcli consume orders -e -J | kcli produce copy --input json', words='TOPIC [FILE]...', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26)),
}
