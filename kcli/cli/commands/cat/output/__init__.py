"""What kcat prints, byte for byte."""
