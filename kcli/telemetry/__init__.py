"""Client telemetry (KIP-714): metrics of this client, pushed to the cluster that subscribes to them."""
