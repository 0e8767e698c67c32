"""`kcli config`: profiles, and other tools' files."""
