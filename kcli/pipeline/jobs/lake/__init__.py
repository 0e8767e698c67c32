"""Tables of a lake: Iceberg and Delta, each committed once by the driver."""
