"""The pipeline on Spark: kcli's Python Data Source and its session. Imported only when used."""
