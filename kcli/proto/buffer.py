"""`Buffer`: bytes in any of Python's built-in types, as a type for annotations."""

Buffer = bytes | bytearray | memoryview
