"""The commands of `kcli tui`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='interval', flags=('--interval',), metavar='DURATION', help='Refresh interval (default 5s).')
_1 = Option(name='window', flags=('--window',), metavar='DURATION', help='Time window of the rates (default 60s).')
_2 = Option(name='replay', flags=('--replay',), metavar='FILE', help='Show a recording of `kcli lag record`.')
_3 = Option(name='theme', flags=('--theme',), metavar='NAME', help="kcli-dark (default), kcli-light, or Textual's.")
_4 = Option(name='schema_registry', flags=('--schema-registry',), metavar='URL', help='The registry. Else schema.registry.url of the profile.')
_5 = Option(name='alert', flags=('--alert',), metavar='WAYS', help='On a change of status: bell, desktop, http://… (comma-separated).')
_6 = Option(name='web', flags=('--web',), kind='flag', help='Show it in a browser on this machine: read-only, one session.')
_7 = Option(name='port', flags=('--port',), kind='int', metavar='N', help='With --web: the port (default: a free one).', least=0)
_8 = Option(name='writable', flags=('--writable',), kind='flag', help='With --web: allow changes.')
_9 = Option(name='sessions', flags=('--sessions',), kind='int', metavar='N', help='With --web: open at the same time (default 1).', least=1)
_10 = Option(name='tour', flags=('--tour',), kind='flag', help='Begin with a tour of five steps.')
_11 = Option(name='keys', flags=('--keys',), kind='flag', help='Print the id of every key; keys.toml changes them.')
_12 = Option(name='debug', flags=('--debug',), kind='flag', help='Show a line with memory, frames and queues.')
_13 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Address of the cluster. Default: KCLI_BOOTSTRAP, the profile, localhost:9092.', panel='Connection', folded=True)
_14 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Default: KCLI_PROFILE, its default_profile.', panel='Connection', folded=True)
_15 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.', also=('--command-property', '--consumer-property', '--producer-property'), panel='Connection', folded=True)
_16 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.', also=('--consumer.config', '--producer.config'), panel='Connection', folded=True)
_17 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster advertises FROM (host:port, or host), for tunnels. Repeatable.', panel='Connection', folded=True)
_18 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='Allow changes in this protected profile.', panel='Connection', folded=True)
_19 = Option(name='trace', flags=('--trace',), kind='flag', help='Print a line on stderr for each frame on the wire.', panel='Connection', folded=True)
_20 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='Append the lines of --trace to FILE.', panel='Connection', folded=True)
_21 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Print only errors on stderr.', panel='Connection', folded=True)
_22 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Print more on stderr.', panel='Connection', folded=True)

COMMANDS = {
    '': Command(name='tui', run='kcli.cli.commands.tui.tui:run', description='Open the dashboard of a cluster. `?` shows the keys, `:` jumps to a screen, `q` quits.\n\nEach screen shows the kcli command that does the same; `y` copies it. keys.toml beside config.toml\nchanges keys, by the ids that --keys prints: "group.reset" = "R".\n\n\x08\nExamples:\n  kcli tui\n  kcli tui group payments                  # open with one group\n  kcli tui schemas --schema-registry http://localhost:8081\n  kcli tui --web                           # in a browser: prints the address\n  kcli tui --replay incident.ndjson        # , and . step, space plays, + and - change the speed\n  kcli dash --profile prod --interval 2s', words='PLACE', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
}
