"""Times as the table of `kcli offsets` has them until its options are a class."""

from __future__ import annotations

from kcli.cli.parsing.groups import TimeFieldOptions
from kcli.cli.parsing.record_groups import TimeOptions

TIME_FIELD, JITTER, VALUE_FORMAT = TimeFieldOptions.declared
TIMES = (*TimeOptions.declared, TIME_FIELD, JITTER)
