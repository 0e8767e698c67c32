"""The Spark jobs of the pipeline commands, one per file. Nothing is printed here."""
