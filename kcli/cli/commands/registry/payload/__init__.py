"""Single payloads: `kcli registry decode` and `encode`."""
