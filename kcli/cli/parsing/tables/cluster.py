"""The commands of `kcli cluster`. Made by `make tables`; do not edit."""

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
_12 = Option(name='unsafe', flags=('--unsafe',), kind='flag', help='Also a downgrade that loses what the old level does not know.')
_13 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, the plan is shown, and on a terminal you are asked.')
_14 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')
_15 = Option(name='listener', flags=('--listener',), metavar='NAME', help='Name of its listener (default: that of the voters, CONTROLLER).')
_16 = Option(name='force', flags=('--force',), kind='flag', help='Also one that is up.')

COMMANDS = {
    'list': Command(name='list', run='kcli.cli.commands.cluster.list:overview', help='Its id, controller, brokers and release.', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'quorum': Command(name='quorum', run='kcli.cli.commands.cluster.quorum:quorum', help='Who decides: voters and observers, and how far each is behind.', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'features': Command(name='features', run='kcli.cli.commands.cluster.features:features', help='Which features are switched on, at which level.', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'features set': Command(name='features set', run='kcli.cli.commands.cluster.feature_levels:set_features', help='Set levels of features, up or down.', words='FEATURE=LEVEL', options=(_12, _13, _14, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'features upgrade': Command(name='features upgrade', run='kcli.cli.commands.cluster.feature_levels:upgrade_features', help='Take features up, to a level or to the highest.', words='FEATURE[=LEVEL]', options=(_13, _14, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'features downgrade': Command(name='features downgrade', run='kcli.cli.commands.cluster.feature_levels:downgrade_features', help='Take features down; with --unsafe also where that loses.', words='FEATURE=LEVEL', options=(_12, _13, _14, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'voters': Command(name='voters', run='kcli.cli.commands.cluster.voters:voters', help='The controllers: who votes, where, from which directory.', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'voters add': Command(name='voters add', run='kcli.cli.commands.cluster.voters:add', help='Give a controller a vote.', words='ID@HOST:PORT', options=(_15, _13, _14, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'voters remove': Command(name='voters remove', run='kcli.cli.commands.cluster.voters:remove', help="Take a controller's vote.", words='VOTER', options=(_13, _14, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
    'unregister': Command(name='unregister', run='kcli.cli.commands.cluster.unregister:unregister', help='Have the cluster forget brokers that will not come back.', words='BROKER', options=(_16, _13, _14, _0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11)),
}
