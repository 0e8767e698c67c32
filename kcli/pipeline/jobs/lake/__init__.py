"""Lake tables: Iceberg and Delta, each batch committed once by the driver."""
