"""What is published: source, wheels, a single file, a Debian package (`make dist`, `onefile`, `deb`)."""
