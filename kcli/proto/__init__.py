"""The wire protocol: messages, codec, session, record batches. Pure: no asyncio, no socket, no clock."""
