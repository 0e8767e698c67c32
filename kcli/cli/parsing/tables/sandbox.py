"""The commands of `kcli sandbox`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='port', flags=('--port',), kind='int', metavar='N', help='Port of the first broker; 0 takes a free one (default 9092).', least=0, most=65535)
_1 = Option(name='brokers', flags=('--brokers',), kind='int', metavar='N', help='Number of brokers, on consecutive ports (default 1).', least=1, most=100)
_2 = Option(name='data', flags=('--data',), metavar='FOLDER', help='Keep everything in this folder. Default: in memory.')
_3 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='NAME[:PARTITIONS]', help='Create this topic. Repeatable.')
_4 = Option(name='partitions', flags=('--partitions',), kind='int', metavar='N', help='Default number of partitions of a topic (default 1).', least=1, most=10000)
_5 = Option(name='host', flags=('--host',), metavar='HOST', help='Address to listen on (default 127.0.0.1).')
_6 = Option(name='allow_remote', flags=('--allow-remote',), kind='flag', help='Allow an address that other machines can reach.')
_7 = Option(name='no_allow_remote', flags=('--no-allow-remote',), kind='flag', help='Listen on this machine only (default).')
_8 = Option(name='auto_create', flags=('--auto-create',), kind='flag', help='Create topics that clients name, if they ask for it (default).')
_9 = Option(name='no_auto_create', flags=('--no-auto-create',), kind='flag', help='Do not create topics that clients name.')
_10 = Option(name='registry', flags=('--registry',), kind='flag', help="A schema registry beside the broker, with Confluent's REST API.")
_11 = Option(name='registry_port', flags=('--registry-port',), kind='int', metavar='N', help='With --registry: its port; 0 takes a free one (default 8081, with --port 0 a free one).', least=0, most=65535)
_12 = Option(name='tls', flags=('--tls',), metavar='FOLDER', help='Speak TLS, with certificates made in this folder if it has none (ca.pem).')
_13 = Option(name='client_ca', flags=('--client-ca',), metavar='FILE', help='With --tls: require a client certificate of this authority (PEM).')
_14 = Option(name='users', flags=('--users',), metavar='FILE', help='Require SASL from all clients: a file of NAME:PASSWORD lines, PLAIN and SCRAM.')
_15 = Option(name='session_lifetime', flags=('--session-lifetime',), metavar='DURATION', help='With --users: clients must authenticate again after this time.')
_16 = Option(name='super_users', flags=('--super-user',), multiple=True, metavar='PRINCIPAL', help='Enforce ACLs: this principal may do anything, others only what ACLs allow. Repeatable.')
_17 = Option(name='open_without_acl', flags=('--open-without-acl',), kind='flag', help='With --super-user: resources without an ACL are open to all users.')
_18 = Option(name='control', flags=('--control',), kind='flag', help='Let the dashboard and `kcli faults` of this machine inject faults (default).')
_19 = Option(name='no_control', flags=('--no-control',), kind='flag', help='Refuse fault injection.')
_20 = Option(name='racks', flags=('--rack',), multiple=True, metavar='NAME', help='Rack of the brokers, in turn. Repeatable.')
_21 = Option(name='disks', flags=('--disks',), kind='int', metavar='N', help='Number of log directories that each broker reports (default 1).', least=1, most=9)
_22 = Option(name='format', flags=('--format',), help='Format of the address.', choices=('plain', 'json'))

COMMANDS = {
    '': Command(name='sandbox', run='kcli.cli.commands.sandbox.sandbox:sandbox', description='Run an embedded Kafka broker on this machine until Ctrl-C.\n\nIn memory, or on disk with --data: there, acknowledged records survive a killed process (they are written to the\noperating system before they are acknowledged; they are not fsynced, so a power cut may take the last ones).\nIt is for trying things out and for tests; it is not a production broker. Nothing is compacted: a topic with\ncleanup.policy=compact refuses records without a key and keeps all others.\n\n\x08\nExamples:\n  kcli sandbox\n  kcli sandbox --port 0 --format json --topic orders:3\n  kcli sandbox --brokers 3 --partitions 6 --data ./kafka-data\n  kcli sandbox --registry\n  kcli sandbox --tls ./certificates --users users.txt\n  kcli sandbox --users users.txt --super-user admin', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22)),
}
