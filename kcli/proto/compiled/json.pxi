# Byte-exact JSON envelopes (-J).

cdef const char* HEX = b"0123456789abcdef"
cdef const char* B64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


cdef inline int utf8_size(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """The bytes of the character at `at`, whose first is above 127; 0 if it is none."""
    cdef uint8_t a = at[0]
    cdef Py_ssize_t left = end - at
    if a < 0xC2 or a > 0xF4 or left < 2 or at[1] & 0xC0 != 0x80:
        return 0
    if a < 0xE0:
        return 2
    if left < 3 or at[2] & 0xC0 != 0x80:
        return 0
    if a < 0xF0:
        return 0 if (a == 0xE0 and at[1] < 0xA0) or (a == 0xED and at[1] > 0x9F) else 3
    if left < 4 or at[3] & 0xC0 != 0x80 or (a == 0xF0 and at[1] < 0x90) or (a == 0xF4 and at[1] > 0x8F):
        return 0
    return 4


cdef char* put_base64(char* to, const uint8_t* at, Py_ssize_t size) noexcept nogil:
    to = put_base64_digits(put(to, b'{"base64":"', 11), at, size)
    return put(to, b'"}', 2)


cdef char* put_base64_digits(char* to, const uint8_t* at, Py_ssize_t size) noexcept nogil:
    cdef uint32_t word
    while size > 0:
        word = <uint32_t> at[0] << 16
        if size > 1:
            word |= <uint32_t> at[1] << 8
        if size > 2:
            word |= at[2]
        to[0], to[1] = B64[word >> 18], B64[word >> 12 & 63]
        to[2] = B64[word >> 6 & 63] if size > 1 else c"="
        to[3] = B64[word & 63] if size > 2 else c"="
        to += 4
        at += 3
        size -= 3
    return to


cdef char* put_text(char* to, const uint8_t* at, int64_t length) noexcept nogil:
    """Bytes as JSON, eight at a time where nothing needs a look. At most 6 bytes a byte, and 16."""
    cdef const uint8_t* start = at
    cdef const uint8_t* end
    cdef char* begin = to
    cdef uint64_t word, seven, dirty, high = 0x8080808080808080ULL, low = 0x7F7F7F7F7F7F7F7FULL
    cdef uint8_t byte
    cdef int size
    if length < 0:
        return put(to, b"null", 4)
    end = at + length
    to[0] = c'"'
    to += 1
    while at < end:
        while end - at >= 8:
            memcpy(&word, at, 8)
            seven = word & low
            dirty = (
                ~(((seven ^ 0x2222222222222222ULL) + low) & ((seven ^ 0x5C5C5C5C5C5C5C5CULL) + low) & (seven + 0x6060606060606060ULL))
                | word
            ) & high
            memcpy(to, &word, 8)
            if dirty:
                size = kcli_first(dirty)
                to += size
                at += size
                break
            to += 8
            at += 8
        if at >= end:
            break
        byte = at[0]
        if byte > 127:
            size = utf8_size(at, end)
            if size == 0:
                return put_base64(begin, start, length)
            to = put(to, at, size)
            at += size
            continue
        at += 1
        if byte >= 32 and byte != 34 and byte != 92:
            to[0] = byte
            to += 1
            continue
        to[0] = c"\\"
        if byte == 34 or byte == 92:
            to[1] = byte
        elif byte == 10:
            to[1] = c"n"
        elif byte == 9:
            to[1] = c"t"
        elif byte == 13:
            to[1] = c"r"
        elif byte == 8:
            to[1] = c"b"
        elif byte == 12:
            to[1] = c"f"
        else:
            memcpy(to + 1, b"u00", 3)
            to[4], to[5] = HEX[byte >> 4], HEX[byte & 15]
            to += 4
        to += 2
    to[0] = c'"'
    return to + 1


cdef char* put_header_pairs(char* to, Row* row) noexcept nogil:
    cdef const uint8_t* at = row.headers
    cdef int64_t length = 0
    cdef int i
    for i in range(row.header_count):
        to = put(to, b",[", 2) if i else put(to, b"[", 1)
        at = field(at, row.end, &length)
        to = put(put_text(to, at, length), b",", 1)
        at = field(at + length, row.end, &length)
        to = put(put_text(to, at, length), b"]", 1)
        if length > 0:
            at += length
    return to


def write_json(Header h, bytearray out, str topic, int64_t partition, int64_t limit):
    """As plain.json.write_json."""
    from kcli.proto.plain.json import texts
    cdef bytes name = topic.encode()
    cdef bytes head = f'{{"topic":{texts()(name)},"partition":{partition},"offset":'.encode()
    cdef const char* front = PyBytes_AS_STRING(head)
    cdef Py_ssize_t front_size = PyBytes_GET_SIZE(head)
    cdef const char* kind = b',"timestamp_type":"append","key":' if h.attributes & 8 else b',"timestamp_type":"create","key":'
    cdef Opened opened = Opened(h)
    cdef Output o = Output(out, (opened.walk.end - opened.walk.at) * 5 // 4 + h.count * (front_size + 110))
    cdef Row row
    cdef int64_t written = 0, after = max(h.first, h.base_offset)
    cdef char* to
    while next_row(&opened.walk, &row):
        if written == limit:
            break
        o.room(front_size + 200 + 6 * (row.end - row.key) + 48 * <Py_ssize_t> row.header_count)
        to = put_digits(put(o.to, front, front_size), h.base_offset + row.delta)
        to = put_digits(put(to, b',"timestamp":', 13), row.timestamp)
        to = put_text(put(to, kind, 33), row.key, row.key_length)
        to = put_text(put(to, b',"value":', 9), row.value, row.value_length)
        to = put(to, b',"headers":[', 12)
        if row.header_count:
            to = put_header_pairs(to, &row)
        o.to = put(to, b"]}\n", 3)
        written += 1
        after = h.base_offset + row.delta + 1
    else:
        after = -1
    o.close(not opened.walk.broken)
    opened.check()
    return written, go_on(h) if after < 0 else after
