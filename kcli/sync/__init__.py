"""kcli without async: plain functions over one event loop in a thread."""
