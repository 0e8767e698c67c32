"""The commands of `kcli config`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='columns', flags=('--columns',), metavar='COLUMN,…', help='Print only these columns, in this order.', panel='Output', folded=True)
_1 = Option(name='sort', flags=('--sort',), metavar='COLUMN', help='Sort by a column: amounts and times from the largest, others from the least. COLUMN:asc or :desc.', panel='Output', folded=True)
_2 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Print only the first N rows.', least=1, panel='Output', folded=True)
_3 = Option(name='format', flags=('--format',), help='table (default), json, ndjson, yaml, csv, csv-safe, tsv or plain.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'), panel='Output')
_4 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.', panel='Output')
_5 = Option(name='wide', flags=('--wide',), kind='flag', help='Show all columns, uncut, with exact numbers, on a terminal too.', panel='Output', folded=True)
_6 = Option(name='no_headers', flags=('--no-headers',), kind='flag', help='Print no titles in tables, CSV and TSV.', panel='Output', folded=True)
_7 = Option(name='local', flags=('--local',), kind='flag', help="Print times in this machine's zone, with its offset (default: UTC).", panel='Output', folded=True)
_8 = Option(name='utc', flags=('--utc',), kind='flag', help='Read times without a zone as UTC (default: as local).', panel='Output', folded=True)
_9 = Option(name='watch', flags=('-w', '--watch'), kind='flag', help='Refresh until Ctrl-C; on a terminal in place.', panel='Watch', folded=True)
_10 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval of --watch (default 5s).', panel='Watch', folded=True)
_11 = Option(name='refreshes', flags=('--refreshes',), kind='int', metavar='N', help='Stop after N refreshes of --watch.', least=1, panel='Watch', folded=True)
_12 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_13 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_14 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_15 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_16 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_17 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_18 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_19 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_20 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_21 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)
_22 = Option(name='read_only', flags=('--read-only',), kind='flag', help='Refuse everything that changes this cluster.')
_23 = Option(name='protected', flags=('--protected',), kind='flag', help='Ask for --confirm before something is deleted or altered.')
_24 = Option(name='default', flags=('--default',), kind='flag', help='Use it when nothing names a cluster (default_profile).')
_25 = Option(name='no_check', flags=('--no-check',), kind='flag', help='Write the profile without a connection.')
_26 = Option(name='to', flags=('--to',), metavar='FILE', help='Write to this file, such as .kcli.toml (default: config.toml).')
_27 = Option(name='force', flags=('--force',), kind='flag', help='Replace the profile if it exists.')
_28 = Option(name='from_file', flags=('--from',), metavar='FILE', help='Remove from this file, such as .kcli.toml (default: config.toml).')
_29 = Option(name='all', flags=('--all',), kind='flag', help='Defaults too.')
_30 = Option(name='secrets', flags=('--secrets',), kind='flag', help='Resolve secrets (runs their commands) and open keys.')
_31 = Option(name='name', flags=('--name',), metavar='NAME', help='Name of the profile.')
_32 = Option(name='only', flags=('--only',), multiple=True, metavar='NAME', help='Only this cluster. Repeatable.')
_33 = Option(name='write', flags=('--write',), kind='flag', help='Add them to config.toml, with their secrets.')
_34 = Option(name='to', flags=('--to',), metavar='FILE', help='Another file for --write, such as .kcli.toml.')
_35 = Option(name='force', flags=('--force',), kind='flag', help='Replace profiles of the same names.')
_36 = Option(name='reveal', flags=('--reveal',), kind='flag', help='Print secrets too.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.config.list:list_all', help='List the profiles of the project and of the user.', description='List the profiles of .kcli.toml (up to the git root) and of config.toml.\n\n\x08\nExamples:\n  kcli config list\n  kcli config list --format plain | cut -f1', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12)),
    'current': Command(name='current', run='kcli.cli.commands.config.current:current', help='Show which cluster applies, and why.', description="Show every place that may name a cluster, the strongest first, and which one applies: options, the environment,\n.kcli.toml of the project, config.toml of the user, the default. `kcli config show` prints the properties.\n\n\x08\nExamples:\n  kcli config current\n  kcli config current --profile prod\n  kcli config current -J | jq -r '.sources[] | select(.applies) | .source'", options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _13, _14, _15, _16, _17, _18, _19, _20, _12, _21)),
    'add': Command(name='add', run='kcli.cli.commands.config.add:add', help='Add a profile, checked by the doctor.', description="Add a cluster to config.toml as a profile. The doctor checks the connection first; if it fails, nothing is\nwritten. Write secrets as references: ${env:NAME}, ${file:PATH}, ${keyring:SERVICE/USER} or ${command:WORDS}.\n\n\x08\nExamples:\n  kcli config add dev -b localhost:9092\n  kcli config add prod -F client.properties --protected\n  kcli config add prod -b kafka-1:9093 -X security.protocol=SASL_SSL -X sasl.password='${env:PASSWORD}'", words='NAME', options=(_22, _23, _24, _25, _26, _27, _13, _15, _16, _17, _12)),
    'remove': Command(name='remove', run='kcli.cli.commands.config.remove:remove', help='Remove profiles.', description='Remove profiles from config.toml. Comments and other profiles stay; the file as it was is kept beside it.\n\n\x08\nExamples:\n  kcli config remove dev\n  kcli config remove dev --from .kcli.toml', words='PROFILE...', options=(_28, _12)),
    'show': Command(name='show', run='kcli.cli.commands.config.show:show', help='Show the properties in effect and their sources.', description='Print the properties in effect, each with the option, the variable or the file and line it is from. Secrets are\nhidden and nothing is looked up: sources are named, commands are not run.\n\n\x08\nExamples:\n  kcli config show prod\n  kcli config show --profile prod -X linger.ms=50 --all      # defaults too', words='[PROFILE]', options=(_29, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _13, _14, _15, _16, _17, _18, _19, _20, _12, _21)),
    'check': Command(name='check', run='kcli.cli.commands.config.check:check', help='Check profiles without a connection.', description='Check profiles without connecting: names, values, files. `kcli doctor` checks the connection.\n\n\x08\nExamples:\n  kcli config check\n  kcli config check prod --secrets      # resolve secrets too, and open keys', words='[PROFILE]...', options=(_30, _0, _1, _2, _3, _4, _5, _6, _7, _8, _12)),
    'import': Command(name='import', run='kcli.cli.commands.config.importing.importing:run', help='Import clusters of kcat, kaf, kafkactl, kcl or rpk.', description="Print the clusters of another tool's configuration as profiles. --write adds them to config.toml.\n\n\x08\nExamples:\n  kcli config import kaf                               # from ~/.kaf/config\n  kcli config import client.properties --name prod\n  kcli config import kafkactl --only prod --write", words='kcat|kaf|kafkactl|kcl|rpk|properties [FILE]', options=(_31, _32, _33, _34, _35, _36, _12)),
    'path': Command(name='path', run='kcli.cli.commands.config.path:path', help='Print the path of config.toml.', description='Print the path of config.toml, whether it exists or not.\n\n\x08\nExample:\n  $EDITOR "$(kcli config path)"', options=(_12,)),
}
