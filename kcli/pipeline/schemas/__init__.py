"""Formats with a registry's schemas: looked up on the driver, sealed for tasks, read as typed columns."""
