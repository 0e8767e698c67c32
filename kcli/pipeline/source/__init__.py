"""Reading: `format("kcli")`, ranges of offsets planned on the driver, batches fetched in tasks."""
