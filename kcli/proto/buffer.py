"""`Buffer`: bytes in any of Python's built-in types, for annotations."""

Buffer = bytes | bytearray | memoryview
