"""What the pipeline's commands do with Spark, one job a file. Nothing is printed here."""
