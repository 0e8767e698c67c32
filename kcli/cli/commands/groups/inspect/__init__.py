"""What groups do, more closely: why they lag, and the records around their offsets."""
