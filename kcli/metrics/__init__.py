"""What a client counts while it works, and the hooks that it calls."""
