"""From words to options: declarations, the parser, Typer."""
