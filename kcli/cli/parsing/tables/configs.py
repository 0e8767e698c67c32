"""The commands of `kcli configs`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='format', flags=('--format',), help='Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))
_1 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_2 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.')
_3 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.')
_4 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.')
_5 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.')
_6 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.')
_7 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.')
_8 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.')
_9 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.')
_10 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.')
_11 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.')
_12 = Option(name='all', flags=('-a', '--all'), kind='flag', help='Inherited values too.')
_13 = Option(name='docs', flags=('--docs',), kind='flag', help="With Kafka's own explanation of each.")
_14 = Option(name='undo_file', flags=('--undo-file',), metavar='FILE', help='Where to keep what there was before. Default: a new file in ~/.local/state/kcli/undo.')
_15 = Option(name='no_undo', flags=('--no-undo',), kind='flag', help='Keep no undo file.')
_16 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, the plan is shown, and on a terminal you are asked.')
_17 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.configs.list:list_all', help='What has configs that somebody set.', words='KIND', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'get': Command(name='get', run='kcli.cli.commands.configs.get:get', help='The configs of a topic, broker, logger, group, …', words='KIND NAME [KEY]', options=(_12, _13, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'diff': Command(name='diff', run='kcli.cli.commands.configs.diff:diff', help='What differs from the defaults, or from another of the kind.', words='KIND NAME [OTHER]', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'set': Command(name='set', run='kcli.cli.commands.configs.set:set_configs', help='Set configs.', words='KIND NAME KEY=VALUE', options=(_14, _15, _16, _17, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'delete': Command(name='delete', run='kcli.cli.commands.configs.delete:delete', help='Take configs back to what is inherited.', words='KIND NAME KEY', options=(_14, _15, _16, _17, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'append': Command(name='append', run='kcli.cli.commands.configs.lists:append', help='Add to configs that are lists.', words='KIND NAME KEY=VALUE', options=(_14, _15, _16, _17, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'subtract': Command(name='subtract', run='kcli.cli.commands.configs.lists:subtract', help='Take away from configs that are lists.', words='KIND NAME KEY=VALUE', options=(_14, _15, _16, _17, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'restore': Command(name='restore', run='kcli.cli.commands.configs.restore:restore', help='Take changes back from their undo file.', words='FILE', options=(_14, _15, _16, _17, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
}
