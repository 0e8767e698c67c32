"""Reading: `format("kcli")`, offset ranges planned on the driver, batches fetched in tasks."""
