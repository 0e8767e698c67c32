"""kcli beside kcat and the Python clients: whole processes, CPU seconds, one interleaved run on one broker."""
