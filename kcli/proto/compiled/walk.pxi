# A batch as read, and the walk over its records: every read is checked against the end of the record.

cdef class Header:
    """As plain.walk.Header."""

    cdef public int64_t base_offset, last_offset, base_timestamp, max_timestamp, producer_id, first, stop
    cdef public int64_t max_decompressed
    cdef public Py_ssize_t body_start, body_end, size
    cdef public int32_t leader_epoch, base_sequence, count
    cdef public int attributes, magic, producer_epoch
    cdef public bint packed
    cdef public object data


cdef struct Row:
    const uint8_t* key
    const uint8_t* value
    const uint8_t* headers
    const uint8_t* end
    int64_t key_length
    int64_t value_length
    int64_t delta
    int64_t timestamp
    int32_t header_count


cdef struct Walk:
    const uint8_t* at
    const uint8_t* end
    int64_t first
    int64_t stop
    int64_t last
    int64_t base_timestamp
    int64_t fixed_timestamp
    int32_t left
    bint appended
    bint broken


cdef inline const uint8_t* more(const uint8_t* at, const uint8_t* end, int bits, uint64_t* value) noexcept nogil:
    """The rest of a varint whose first byte, in `value`, was above 127."""
    cdef uint64_t byte, total = value[0] & 127
    cdef int shift = 7
    while shift < bits:
        if at >= end:
            return NULL
        byte = at[0]
        at += 1
        if shift + 7 > bits and byte >> (bits - shift):
            return NULL
        total |= (byte & 127) << shift
        if byte < 128:
            value[0] = total
            return at
        shift += 7
    return NULL


cdef inline const uint8_t* varint(const uint8_t* at, const uint8_t* end, int bits, int64_t* value) noexcept nogil:
    """A zigzag varint; NULL if it is not one or leaves [at, end)."""
    cdef uint64_t raw
    if at >= end:
        return NULL
    raw = at[0]
    at += 1
    if raw > 127:
        if at < end and at[0] < 128:
            raw = (raw & 127) | (<uint64_t> at[0] << 7)
            at += 1
        else:
            at = more(at, end, bits, &raw)
            if at == NULL:
                return NULL
    value[0] = <int64_t> (raw >> 1) ^ -<int64_t> (raw & 1)
    return at


cdef inline const uint8_t* field(const uint8_t* at, const uint8_t* end, int64_t* length) noexcept nogil:
    """The length of a nullable field: where its bytes stand. They are all in front of `end`."""
    at = varint(at, end, 32, length)
    if at == NULL or length[0] < -1 or length[0] > end - at:
        return NULL
    return at


cdef const uint8_t* skip_headers(const uint8_t* at, const uint8_t* end, int64_t count) noexcept nogil:
    cdef int64_t length = 0
    if count < 0 or count * 2 > end - at:
        return NULL
    while count > 0:
        at = field(at, end, &length)
        if at == NULL or length < 0:
            return NULL
        at = field(at + length, end, &length)
        if at == NULL:
            return NULL
        if length > 0:
            at += length
        count -= 1
    return at


cdef inline bint next_row(Walk* walk, Row* row) noexcept nogil:
    """The next record in the window; False at the end, and with `broken` set at what is no record."""
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef int64_t length = 0, elapsed = 0, headers = 0
    while walk.left > 0:
        walk.left -= 1
        walk.broken = True
        at = varint(walk.at, walk.end, 32, &length)
        if at == NULL or length < 1 or length > walk.end - at:
            return False
        end = at + length
        at = varint(at + 1, end, 64, &elapsed)
        if at == NULL:
            return False
        at = varint(at, end, 32, &row.delta)
        if at == NULL or row.delta < 0 or row.delta > walk.last:
            return False
        row.key = at = field(at, end, &row.key_length)
        if at == NULL:
            return False
        if row.key_length > 0:
            at += row.key_length
        row.value = at = field(at, end, &row.value_length)
        if at == NULL:
            return False
        if row.value_length > 0:
            at += row.value_length
        row.headers = at = varint(at, end, 32, &headers)
        if at == NULL:
            return False
        if headers:
            at = skip_headers(at, end, headers)
        if at != end:
            return False
        if walk.appended:
            row.timestamp = walk.fixed_timestamp
        else:
            if (elapsed > 0 and walk.base_timestamp > INT64_MAX - elapsed) or (
                elapsed < 0 and walk.base_timestamp < INT64_MIN - elapsed
            ):
                return False
            row.timestamp = walk.base_timestamp + elapsed
        row.header_count = <int32_t> headers
        row.end = end
        walk.at = end
        walk.broken = False
        if walk.first <= row.delta < walk.stop:
            return True
    walk.broken = walk.at != walk.end
    return False
