"""The command line. Nothing is imported here: a command pays only for what it runs."""

user = ""
"""The name that this process logs in as at the brokers, where it is known."""
typed: list[str] = []
"""The words of the command line that is run, behind `kcli`: the journal of changes keeps them."""
