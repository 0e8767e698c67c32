"""The commands of `kcli config`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='format', flags=('--format',), help='Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))
_1 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_2 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.')
_3 = Option(name='all', flags=('--all',), kind='flag', help='Defaults too.')
_4 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.')
_5 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.')
_6 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.')
_7 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.')
_8 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.')
_9 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.')
_10 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.')
_11 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.')
_12 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.')
_13 = Option(name='secrets', flags=('--secrets',), kind='flag', help='Look secrets up (commands are run), open keys.')
_14 = Option(name='name', flags=('--name',), metavar='NAME', help='What to call the profile.')
_15 = Option(name='only', flags=('--only',), multiple=True, metavar='NAME', help='Only this one. Repeatable.')
_16 = Option(name='write', flags=('--write',), kind='flag', help='Add them to config.toml, with their secrets.')
_17 = Option(name='to', flags=('--to',), metavar='FILE', help='Another file for --write, such as .kcli.toml.')
_18 = Option(name='force', flags=('--force',), kind='flag', help='Replace profiles of the same names.')
_19 = Option(name='reveal', flags=('--reveal',), kind='flag', help='Print secrets too.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.config.list:list_all', help='Profiles of the project and of the user.', description='List the profiles of .kcli.toml (up to the git root) and of config.toml.\n\n\x08\nExamples:\n  kcli config list\n  kcli config list --format plain | cut -f1', options=(_0, _1, _2)),
    'show': Command(name='show', run='kcli.cli.commands.config.show:show', help='What is in effect, and where each value comes from.', description='Print the properties in effect, each with the option, the variable or the file and line it is from. Secrets are\nhidden and nothing is looked up: sources are named, commands are not run.\n\n\x08\nExamples:\n  kcli config show prod\n  kcli config show --profile prod -X linger.ms=50 --all      # defaults too', words='[PROFILE]', options=(_3, _0, _1, _4, _5, _6, _7, _8, _9, _10, _11, _2, _12)),
    'check': Command(name='check', run='kcli.cli.commands.config.check:check', help='Whether profiles make sense.', description='Check profiles without connecting: names, values, files. `kcli doctor` tries the way there.\n\n\x08\nExamples:\n  kcli config check\n  kcli config check prod --secrets      # look secrets up too, and open keys with them', words='[PROFILE]...', options=(_13, _0, _1, _2)),
    'import': Command(name='import', run='kcli.cli.commands.config.importing:run', help='Clusters of kcat, kaf, kafkactl, kcl, rpk or a .properties file as profiles.', description="Print the clusters of another tool's configuration as profiles. --write adds them to config.toml.\n\n\x08\nExamples:\n  kcli config import kaf                               # from ~/.kaf/config\n  kcli config import client.properties --name prod\n  kcli config import kafkactl --only prod --write", words='kcat|kaf|kafkactl|kcl|rpk|properties [FILE]', options=(_14, _15, _16, _17, _18, _19, _2)),
    'path': Command(name='path', run='kcli.cli.commands.config.path:path', help='Where config.toml is, or would be.', description='Print the path of config.toml, whether it is there or not.\n\n\x08\nExample:\n  $EDITOR "$(kcli config path)"', options=(_2,)),
}
