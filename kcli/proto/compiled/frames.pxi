# The frame of a Produce request of one batch.

def produce_frame(
    int64_t correlation_id, bytes header not None, int64_t acks, int64_t timeout_ms, bytes topic_id not None,
    int64_t index, records
):
    """As plain.frames.produce_frame."""
    cdef const uint8_t[::1] view = records
    cdef Py_ssize_t size = view.shape[0], head = PyBytes_GET_SIZE(header)
    cdef Py_ssize_t whole = 8 + head + 29 + width(<uint64_t> size + 1) + size + 3
    cdef bytes frame
    cdef uint8_t* to
    if PyBytes_GET_SIZE(topic_id) != 16:
        raise ValueError("a topic id has 16 bytes")
    if not (<int32_t> correlation_id == correlation_id and <int16_t> acks == acks and <int32_t> whole == whole
            and <int32_t> timeout_ms == timeout_ms and <int32_t> index == index):
        raise ValueError("a number does not fit its field")
    frame = PyBytes_FromStringAndSize(NULL, 4 + whole)
    to = <uint8_t*> PyBytes_AS_STRING(frame)
    put_big(to, <uint64_t> whole, 4)
    put_big(to + 4, 13, 4)  # API 0, version 13
    put_big(to + 8, <uint64_t> correlation_id, 4)
    memcpy(to + 12, PyBytes_AS_STRING(header), head)
    to += 12 + head
    to[0] = 0  # no transactional id
    put_big(to + 1, <uint64_t> acks, 2)
    put_big(to + 3, <uint64_t> timeout_ms, 4)
    to[7] = 2  # one topic
    memcpy(to + 8, PyBytes_AS_STRING(topic_id), 16)
    to[24] = 2  # one partition
    put_big(to + 25, <uint64_t> index, 4)
    to = put_varint(to + 29, <uint64_t> size + 1)
    if size:
        memcpy(to, &view[0], size)
    memset(to + size, 0, 3)  # no tags of partition, topic and request
    return frame
