"""Schemas that a line names: keys and values decoded when they are read, encoded when they are sent."""
