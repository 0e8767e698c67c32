"""Formats whose schemas are in a registry: looked up on the driver, sealed for tasks, read as typed columns."""
