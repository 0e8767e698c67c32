"""What lists and pages show of a registry."""
