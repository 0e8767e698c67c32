"""Schemas between registries, folders and files: export, import, copy, restore."""
