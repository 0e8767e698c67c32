"""Tests of `kcli/telemetry`, and its metrics as Google's protobuf reads them."""
