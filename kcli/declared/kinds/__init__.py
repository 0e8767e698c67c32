"""What differs and how it changes, a file for each kind of declared thing."""
