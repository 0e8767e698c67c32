"""The pipeline on Spark: kcli's Python Data Source and the session it runs in. Imported only when it is used."""
