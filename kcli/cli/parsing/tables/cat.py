"""The commands of `kcli cat`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='consume', flags=('-C',), kind='flag')
_1 = Option(name='produce', flags=('-P',), kind='flag')
_2 = Option(name='list', flags=('-L',), kind='flag')
_3 = Option(name='query', flags=('-Q',), kind='flag')
_4 = Option(name='group', flags=('-G',), metavar='GROUP')
_5 = Option(name='topics', flags=('-t',), multiple=True, metavar='TOPIC')
_6 = Option(name='bootstrap', flags=('-b',), metavar='SERVERS')
_7 = Option(name='partition', flags=('-p',), metavar='N')
_8 = Option(name='start', flags=('-o',), metavar='WHERE')
_9 = Option(name='properties', flags=('-X',), multiple=True, metavar='PROPERTY')
_10 = Option(name='config_file', flags=('-F',), metavar='FILE')
_11 = Option(name='compression', flags=('-z',), metavar='codec')
_12 = Option(name='delimiter', flags=('-D',), metavar='DELIM')
_13 = Option(name='key_delimiter', flags=('-K',), metavar='DELIM')
_14 = Option(name='key', flags=('-k',), metavar='KEY')
_15 = Option(name='headers', flags=('-H',), multiple=True, metavar='NAME=VALUE')
_16 = Option(name='count', flags=('-c',), metavar='N')
_17 = Option(name='template', flags=('-f',), metavar='FORMAT')
_18 = Option(name='serdes', flags=('-s',), metavar='SERDES')
_19 = Option(name='registry', flags=('-r',), metavar='URL')
_20 = Option(name='patience', flags=('-m',), metavar='SECONDS')
_21 = Option(name='exit_at_end', flags=('-e',), kind='flag')
_22 = Option(name='json', flags=('-J',), kind='flag')
_23 = Option(name='unbuffered', flags=('-u',), kind='flag')
_24 = Option(name='quiet', flags=('-q',), kind='flag')
_25 = Option(name='verbose', flags=('-v',), kind='flag')
_26 = Option(name='lines', flags=('-l',), kind='flag')
_27 = Option(name='nulls', flags=('-Z',), kind='flag')
_28 = Option(name='offsets', flags=('-O',), kind='flag')
_29 = Option(name='errors', flags=('-E',), kind='flag')
_30 = Option(name='tee', flags=('-T',), kind='flag')
_31 = Option(name='bare', flags=('-U',), kind='flag')

COMMANDS = {
    '': Command(name='cat', run='kcli.cli.commands.cat.command:cat', description="Run a command line of kcat's; `kcli cat -h` prints its options.", words='FILE', own_words=True, options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31)),
}
