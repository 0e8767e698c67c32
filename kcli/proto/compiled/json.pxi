# Records as lines of JSON: byte-exact (--envelope), and for reading (-J).

cdef enum:
    JSON_DEEPEST = 256

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


cdef inline const uint8_t* past_space(const uint8_t* at, const uint8_t* end) noexcept nogil:
    while at < end and (at[0] == c" " or at[0] == c"\t" or at[0] == c"\r" or at[0] == c"\n"):
        at += 1
    return at


cdef const uint8_t* past_string(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Past the JSON string whose first quote is in front of `at`, eight bytes at a time; NULL if it is none."""
    cdef uint64_t word, seven, dirty, high = 0x8080808080808080ULL, low = 0x7F7F7F7F7F7F7F7FULL
    cdef uint8_t byte
    cdef int size
    while at < end:
        while end - at >= 8:
            memcpy(&word, at, 8)
            seven = word & low
            dirty = (
                ~(((seven ^ 0x2222222222222222ULL) + low) & ((seven ^ 0x5C5C5C5C5C5C5C5CULL) + low) & (seven + 0x6060606060606060ULL))
                | word
            ) & high
            if dirty:
                at += kcli_first(dirty)
                break
            at += 8
        if at >= end:
            break
        byte = at[0]
        if byte == c'"':
            return at + 1
        if byte < 32:
            return NULL
        size = 1
        if byte > 127:
            size = utf8_size(at, end)
        elif byte == c"\\":
            if end - at < 2:
                return NULL
            byte = at[1]
            if byte == c"u":
                if end - at < 6 or (hex_of(at[2]) | hex_of(at[3]) | hex_of(at[4]) | hex_of(at[5])) < 0:
                    return NULL
                size = 6
            elif byte == c'"' or byte == c"\\" or byte == c"/" or byte == c"b" or byte == c"f" or byte == c"n" or byte == c"r" or byte == c"t":
                size = 2
            else:
                return NULL
        if size == 0:
            return NULL
        at += size
    return NULL


cdef inline const uint8_t* past_digits(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Past one digit at least; NULL if there is none."""
    if at >= end or not c"0" <= at[0] <= c"9":
        return NULL
    while at < end and c"0" <= at[0] <= c"9":
        at += 1
    return at


cdef const uint8_t* past_scalar(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Past a number, true, false or null; NULL if it is none."""
    if end - at >= 4 and (memcmp(at, b"true", 4) == 0 or memcmp(at, b"null", 4) == 0):
        return at + 4
    if end - at >= 5 and memcmp(at, b"false", 5) == 0:
        return at + 5
    if at < end and at[0] == c"-":
        at += 1
    at = at + 1 if at < end and at[0] == c"0" else past_digits(at, end)
    if at != NULL and at < end and at[0] == c".":
        at = past_digits(at + 1, end)
    if at != NULL and at < end and at[0] | 32 == c"e":
        at += 1
        at = past_digits(at + 1 if at < end and (at[0] == c"+" or at[0] == c"-") else at, end)
    return at


cdef const uint8_t* past_name(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Past the name of a field and its colon; NULL if there is none."""
    at = past_space(at, end)
    if at >= end or at[0] != c'"':
        return NULL
    at = past_string(at + 1, end)
    if at == NULL:
        return NULL
    at = past_space(at, end)
    return at + 1 if at < end and at[0] == c":" else NULL


cdef const uint8_t* past_json(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Past the JSON value that begins here; NULL if there is none, or if it is nested too deeply."""
    cdef uint8_t ends[JSON_DEEPEST]
    cdef int depth = 0
    cdef uint8_t byte
    while True:
        at = past_space(at, end)
        if at >= end:
            return NULL
        byte = at[0]
        if byte == c"{" or byte == c"[":
            if depth == JSON_DEEPEST:
                return NULL
            ends[depth] = byte + 2  # the bracket that closes it
            depth += 1
            at = past_space(at + 1, end)
            if at >= end or at[0] != byte + 2:
                if byte == c"{":
                    at = past_name(at, end)
                    if at == NULL:
                        return NULL
                continue
        else:
            at = past_string(at + 1, end) if byte == c'"' else past_scalar(at, end)
            if at == NULL:
                return NULL
        while depth:
            at = past_space(at, end)
            if at >= end or (at[0] != ends[depth - 1] and at[0] != c","):
                return NULL
            at += 1
            if at[-1] == c",":
                if ends[depth - 1] == c"}":
                    at = past_name(at, end)
                    if at == NULL:
                        return NULL
                break
            depth -= 1
        else:
            return at


cdef bint is_json(const uint8_t* at, int64_t length, bint scalars) noexcept nogil:
    """Whether a key or value is shown as JSON: an object or an array, with `scalars` a number or a truth value, too.
    Not an object that could be taken for bytes in base64."""
    cdef const uint8_t* end = at + length
    cdef const uint8_t* first
    cdef const uint8_t* inner
    if length <= 0:
        return False
    first = past_space(at, end)
    if first >= end:
        return False
    if first[0] == c"{":
        inner = past_space(first + 1, end)
        if end - inner >= 8 and memcmp(inner, b'"base64"', 8) == 0:
            return False
    elif first[0] != c"[":
        if not scalars or first != at or not (first[0] == c"-" or c"0" <= first[0] <= c"9" or first[0] == c"t" or first[0] == c"f"):
            return False
        return past_scalar(at, end) == end
    first = past_json(first, end)
    return first != NULL and past_space(first, end) == end


cdef char* put_as_json(char* to, const uint8_t* at, int64_t length) noexcept nogil:
    """JSON on one line, with the spaces between its parts that it has, if it is on one line."""
    cdef const uint8_t* end = at + length
    cdef const uint8_t* stop
    at = past_space(at, end)
    while end > at and (end[-1] == c" " or end[-1] == c"\t" or end[-1] == c"\r" or end[-1] == c"\n"):
        end -= 1
    if memchr(at, c"\n", end - at) == NULL and memchr(at, c"\r", end - at) == NULL:
        return put(to, at, end - at)
    while at < end:
        if at[0] == c'"':
            stop = past_string(at + 1, end)
            if stop == NULL:
                stop = end
            to = put(to, at, stop - at)
            at = past_space(stop, end)
            continue
        to[0] = at[0]
        to += 1
        if at[0] == c"," or at[0] == c":":
            to[0] = c" "
            to += 1
        at = past_space(at + 1, end)
    return to


def write_readable(
    Header h, bytearray out, str topic, int64_t partition, int64_t limit, dict keys, dict values
):
    """As plain.json.write_readable."""
    from kcli.proto.plain.json import texts
    cdef bytes head = f'{{"topic":{texts()(topic.encode())},"partition":{partition},"offset":'.encode()
    cdef const char* front = PyBytes_AS_STRING(head)
    cdef Py_ssize_t front_size = PyBytes_GET_SIZE(head)
    cdef const char* kind = b',"timestamp_type":"append","key":' if h.attributes & 8 else b',"timestamp_type":"create","key":'
    cdef Opened opened = Opened(h)
    cdef Output o = Output(out, (opened.walk.end - opened.walk.at) * 5 // 4 + h.count * (front_size + 110))
    cdef Row row
    cdef int64_t written = 0, after = max(h.first, h.base_offset)
    cdef bytes of_key, of_value
    cdef Py_ssize_t more
    cdef char* to
    while next_row(&opened.walk, &row):
        if written == limit:
            break
        of_key = keys.get(h.base_offset + row.delta) if keys else None
        of_value = values.get(h.base_offset + row.delta) if values else None
        more = (0 if of_key is None else PyBytes_GET_SIZE(of_key)) + (0 if of_value is None else PyBytes_GET_SIZE(of_value))
        o.room(front_size + 200 + more + 6 * (row.end - row.key) + 48 * <Py_ssize_t> row.header_count)
        to = put_digits(put(o.to, front, front_size), h.base_offset + row.delta)
        to = put_digits(put(to, b',"timestamp":', 13), row.timestamp)
        to = put(to, kind, 33)
        if row.key_length >= 0 and (of_key is not None or is_json(row.key, row.key_length, False)):
            to = put_as_json(to, row.key, row.key_length)
        else:
            to = put_text(to, row.key, row.key_length)
        to = put(to, b',"value":', 9)
        if row.value_length >= 0 and (of_value is not None or is_json(row.value, row.value_length, True)):
            to = put_as_json(to, row.value, row.value_length)
        else:
            to = put_text(to, row.value, row.value_length)
        to = put(to, b',"headers":[', 12)
        if row.header_count:
            to = put_header_pairs(to, &row)
        to = put(to, b"]", 1)
        if of_key is not None:
            to = put(to, PyBytes_AS_STRING(of_key), PyBytes_GET_SIZE(of_key))
        if of_value is not None:
            to = put(to, PyBytes_AS_STRING(of_value), PyBytes_GET_SIZE(of_value))
        o.to = put(to, b"}\n", 2)
        written += 1
        after = h.base_offset + row.delta + 1
    else:
        after = -1
    o.close(not opened.walk.broken)
    opened.check()
    return written, go_on(h) if after < 0 else after


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
