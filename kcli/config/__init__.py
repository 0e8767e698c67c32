"""What profiles, properties and the environment say, as settings. For the command line and the pipeline."""
