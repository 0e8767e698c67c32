"""Client telemetry (KIP-714): pushes metrics of this client to clusters that subscribe to them."""
