"""The command line. Nothing is imported here: a command pays only for what it runs."""
