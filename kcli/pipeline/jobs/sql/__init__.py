"""SQL over topics: statements, the views that they name, results as records."""
