"""Help: the list of commands, a command's page, topics, and the same as JSON, man pages and reference pages."""
