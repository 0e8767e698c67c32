# The header of a batch that is sent.

cdef inline void put_big(uint8_t* to, uint64_t value, int size) noexcept nogil:
    """Big-endian."""
    while size:
        size -= 1
        to[size] = <uint8_t> value
        value >>= 8


cdef uint8_t* header_of(bytearray data) except NULL:
    if PyByteArray_GET_SIZE(data) < RESERVED:
        raise ValueError(f"{PyByteArray_GET_SIZE(data)} bytes have no room for a batch header")
    return <uint8_t*> PyByteArray_AS_STRING(data)


def write_header(bytearray data not None, int attributes, int32_t count, int64_t base_timestamp, int64_t max_timestamp):
    """As plain.seal.write_header."""
    cdef uint8_t* to = header_of(data)
    memset(to, 0, RESERVED)
    put_big(to + 8, <uint64_t> (PyByteArray_GET_SIZE(data) - 12), 4)
    memset(to + 12, 255, 4)  # the leader's epoch
    to[16] = 2
    put_big(to + 21, <uint64_t> attributes, 2)
    put_big(to + 23, <uint64_t> (count - 1), 4)
    put_big(to + 27, <uint64_t> base_timestamp, 8)
    put_big(to + 35, <uint64_t> max_timestamp, 8)
    memset(to + 43, 255, 14)  # the producer
    put_big(to + 57, <uint64_t> count, 4)


def write_stamp(bytearray data not None, int64_t producer_id, int16_t epoch, int32_t base_sequence):
    """As plain.seal.write_stamp."""
    cdef uint8_t* to = header_of(data)
    put_big(to + 43, <uint64_t> producer_id, 8)
    put_big(to + 51, <uint64_t> epoch, 2)
    put_big(to + 53, <uint64_t> base_sequence, 4)
    put_big(to + 17, kcli_crc32c(0, to + 21, PyByteArray_GET_SIZE(data) - 21), 4)
