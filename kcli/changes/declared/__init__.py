"""What `apply` and `diff` do: a cluster beside what files declare, section by section, and the steps between them."""
