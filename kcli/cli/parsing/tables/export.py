"""The commands of `kcli export`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='only', flags=('--only',), multiple=True, metavar='SECTION', help='Only this section: topics, configs, users, quotas, acls or schemas. Repeatable.')
_1 = Option(name='match', flags=('--match',), multiple=True, metavar='PATTERN', help='The same as a NAME that is an argument. Repeatable.', hidden=True)
_2 = Option(name='format', flags=('--format',), help='Default yaml.', choices=('yaml', 'toml', 'json'))
_3 = Option(name='internal', flags=('--internal',), kind='flag', help="Include Kafka's internal topics.")
_4 = Option(name='literal', flags=('--literal',), kind='flag', help="Read names as they are. Default: a glob ('orders-*') or '^RE' (from the start of the name) is a pattern.", panel='Names', folded=True)
_5 = Option(name='schema_registry', flags=('--schema-registry',), metavar='URL', help='The registry of declared schemas. Else schema.registry.url of the profile.')
_6 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_7 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_8 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_9 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_10 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_11 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_12 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_13 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_14 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_15 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='export', run='kcli.cli.commands.apply.export:export', description="Print topics, configs, users, quotas, ACLs and, where a registry is named, schemas as a file for `kcli apply`.\nApplying it to the same cluster changes nothing. Passwords cannot be read: users get the name of an environment\nvariable, secret configs are omitted. Not exported: records, offsets and Kafka's internal resources. NAME selects\nresources by name: orders, orders-*, ^RE, group/billing, User:a*.\n\n\x08\nExamples:\n  kcli export > cluster.yaml\n  kcli export 'orders*' 'group/*' --only topics --only configs --format toml\n  kcli export -b old:9092 | kcli apply - -b new:9092 --execute", words='NAME', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15)),
}
