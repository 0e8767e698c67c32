"""YAML and TOML as people write them, with the line of everything."""
