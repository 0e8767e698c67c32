"""Named clusters: `config.toml` of the user and `.kcli.toml` of a project."""
