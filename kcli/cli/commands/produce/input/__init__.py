"""What `kcli produce` reads: files and stdin, unpacked, and the forms of their lines."""
