"""Tests of `kcli/metrics`."""
