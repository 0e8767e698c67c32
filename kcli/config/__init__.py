"""Profiles, properties and environment variables as settings, for the command line and the pipeline."""
