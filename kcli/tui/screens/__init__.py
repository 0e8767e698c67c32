"""One file per screen: what it shows, its keys, and the command that does the same."""
