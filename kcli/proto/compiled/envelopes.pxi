# Lines of JSON into columns: what `consume --envelope`, `consume -J` and kcat's -J write, read as they are written.
#
# A line that says anything in another way is left to the reader in Python, which knows all ways and all errors: the walk
# ends in front of it.

cdef enum:
    E_TOPIC = 1
    E_PARTITION = 2
    E_OFFSET = 4
    E_KEY = 8
    E_HEADERS = 16
    E_TIMESTAMP = 32
    E_TIMESTAMP_TYPE = 64
    E_VALUE = 128
    E_TS = 256
    E_TSTYPE = 512
    E_BROKER = 1024
    E_PAYLOAD = 2048
    E_COMMON = 31  # the first five, which both kinds have
    E_OURS = 31 | 32 | 64 | 128
    E_KCATS = 31 | 256 | 512 | 1024 | 2048


cdef struct Envelope:
    const uint8_t* at  # what is left of the line
    const uint8_t* end
    uint8_t* begin  # the arena
    uint8_t* to
    int64_t partition, timestamp
    bint readable, raw  # whether keys and values may be JSON, and whether one is
    Py_ssize_t key, key_length, value, value_length, tail, tail_length


cdef inline void skip_space(Envelope* e) noexcept nogil:
    e.at = past_space(e.at, e.end)


cdef inline bint next_is(Envelope* e, uint8_t byte) noexcept nogil:
    """Past space and that byte, if it comes next."""
    skip_space(e)
    if e.at < e.end and e.at[0] == byte:
        e.at += 1
        return True
    return False


cdef inline bint word_is(Envelope* e, const char* word, Py_ssize_t size) noexcept nogil:
    if e.end - e.at >= size and memcmp(e.at, word, size) == 0:
        e.at += size
        return True
    return False


cdef inline int hex_of(uint8_t byte) noexcept nogil:
    if c"0" <= byte <= c"9":
        return byte - c"0"
    byte |= 32
    return byte - c"a" + 10 if c"a" <= byte <= c"f" else -1


cdef int unit_of(Envelope* e) noexcept nogil:
    """The four digits of an escape; -1 if they are none."""
    cdef int i, digit, unit = 0
    if e.end - e.at < 4:
        return -1
    for i in range(4):
        digit = hex_of(e.at[i])
        if digit < 0:
            return -1
        unit = unit << 4 | digit
    e.at += 4
    return unit


cdef bint put_escaped(Envelope* e) noexcept nogil:
    """The character behind a backslash."""
    cdef uint8_t byte
    cdef int unit, low
    if e.at >= e.end:
        return False
    byte = e.at[0]
    e.at += 1
    if byte == c"u":
        unit = unit_of(e)
        if unit < 0 or 0xDC00 <= unit <= 0xDFFF:
            return False
        if 0xD800 <= unit <= 0xDBFF:
            if not word_is(e, b"\\u", 2):
                return False
            low = unit_of(e)
            if low < 0xDC00 or low > 0xDFFF:
                return False
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        put_unit(e, unit)
        return True
    if byte == c"n":
        byte = 10
    elif byte == c"t":
        byte = 9
    elif byte == c"r":
        byte = 13
    elif byte == c"b":
        byte = 8
    elif byte == c"f":
        byte = 12
    elif byte != c'"' and byte != c"\\" and byte != c"/":
        return False
    e.to[0] = byte
    e.to += 1
    return True


cdef inline void put_unit(Envelope* e, int unit) noexcept nogil:
    """A character as UTF-8."""
    cdef int size = 1 if unit < 0x80 else 2 if unit < 0x800 else 3 if unit < 0x10000 else 4, i
    if size == 1:
        e.to[0] = <uint8_t> unit
    else:
        for i in range(size - 1, 0, -1):
            e.to[i] = <uint8_t> (0x80 | (unit & 63))
            unit >>= 6
        e.to[0] = <uint8_t> (unit | (0xF00 >> size & 0xFF))
    e.to += size


cdef bint put_string(Envelope* e) noexcept nogil:
    """The text up to the quote that ends it, eight bytes at a time where nothing needs a look."""
    cdef uint64_t word, seven, dirty, high = 0x8080808080808080ULL, low = 0x7F7F7F7F7F7F7F7FULL
    cdef uint8_t byte
    cdef int size
    while e.at < e.end:
        while e.end - e.at >= 8:
            memcpy(&word, e.at, 8)
            seven = word & low
            dirty = (
                ~(((seven ^ 0x2222222222222222ULL) + low) & ((seven ^ 0x5C5C5C5C5C5C5C5CULL) + low) & (seven + 0x6060606060606060ULL))
                | word
            ) & high
            memcpy(e.to, &word, 8)
            if dirty:
                size = kcli_first(dirty)
                e.to += size
                e.at += size
                break
            e.to += 8
            e.at += 8
        if e.at >= e.end:
            return False
        byte = e.at[0]
        if byte > 127:
            size = utf8_size(e.at, e.end)
            if size == 0:
                return False
            memcpy(e.to, e.at, size)
            e.to += size
            e.at += size
            continue
        e.at += 1
        if byte == c'"':
            return True
        if byte == c"\\":
            if not put_escaped(e):
                return False
        elif byte < 32:
            return False
        else:
            e.to[0] = byte
            e.to += 1
    return False


cdef inline int digit_of(uint8_t byte) noexcept nogil:
    """What a base64 digit is; -1 for another byte."""
    if c"A" <= byte <= c"Z":
        return byte - c"A"
    if c"a" <= byte <= c"z":
        return byte - c"a" + 26
    if c"0" <= byte <= c"9":
        return byte - c"0" + 52
    return 62 if byte == c"+" else 63 if byte == c"/" else -1


cdef bint put_bytes_of_base64(Envelope* e) noexcept nogil:
    """The bytes of base64 up to the quote that ends it, as every writer writes it."""
    cdef int a, b, c, d
    while e.at < e.end and e.at[0] != c'"':
        if e.end - e.at < 4:
            return False
        a, b, c, d = digit_of(e.at[0]), digit_of(e.at[1]), digit_of(e.at[2]), digit_of(e.at[3])
        if a < 0 or b < 0:
            return False
        e.to[0] = <uint8_t> (a << 2 | b >> 4)
        if e.at[3] == c"=":
            if e.end - e.at < 5 or e.at[4] != c'"':
                return False
            if e.at[2] == c"=":
                if b & 15:
                    return False
                e.to += 1
            else:
                if c < 0 or c & 3:
                    return False
                e.to[1] = <uint8_t> (b << 4 | c >> 2)
                e.to += 2
            e.at += 4
            break
        if c < 0 or d < 0:
            return False
        e.to[1], e.to[2] = <uint8_t> (b << 4 | c >> 2), <uint8_t> (c << 6 | d)
        e.to += 3
        e.at += 4
    if e.at >= e.end:
        return False
    e.at += 1
    return True


cdef Py_ssize_t put_bytes(Envelope* e) noexcept nogil:
    """The length of a key, a value or a header's value, which is put into the arena; -1 for null, -2 if it is none."""
    cdef uint8_t* begin = e.to
    skip_space(e)
    if next_is(e, c'"'):
        return e.to - begin if put_string(e) else -2
    if word_is(e, b"null", 4):
        return -1
    if next_is(e, c"{"):
        skip_space(e)
        if word_is(e, b'"base64"', 8) and next_is(e, c":") and next_is(e, c'"') and put_bytes_of_base64(e) and next_is(e, c"}"):
            return e.to - begin
    return -2


cdef Py_ssize_t put_key_or_value(Envelope* e) noexcept nogil:
    """As put_bytes; of a readable line also JSON, as it is written."""
    cdef const uint8_t* start
    cdef const uint8_t* inner
    cdef const uint8_t* stop
    cdef Py_ssize_t length
    skip_space(e)
    start = e.at
    if not e.readable or start >= e.end or start[0] == c'"' or start[0] == c"n":
        return put_bytes(e)
    if start[0] == c"{":
        inner = past_space(start + 1, e.end)
        if e.end - inner >= 8 and memcmp(inner, b'"base64"', 8) == 0:
            return put_bytes(e)
    stop = past_json(start, e.end)
    if stop == NULL:
        return -2
    length = stop - start
    memcpy(e.to, start, length)
    e.to += length
    e.at = stop
    e.raw = True
    return length


cdef bint read_number(Envelope* e, int64_t* number) noexcept nogil:
    """A whole number of up to 18 digits; null is -1."""
    cdef int64_t value = 0
    cdef const uint8_t* first
    cdef bint negative
    skip_space(e)
    if word_is(e, b"null", 4):
        number[0] = -1
        return True
    negative = word_is(e, b"-", 1)
    first = e.at
    while e.at < e.end and c"0" <= e.at[0] <= c"9":
        if e.at - first == 18:
            return False
        value = value * 10 + (e.at[0] - c"0")
        e.at += 1
    if e.at == first or (first[0] == c"0" and (e.at - first > 1 or negative)):
        return False
    if e.at < e.end and (e.at[0] == c"." or e.at[0] | 32 == c"e"):
        return False
    number[0] = -value if negative else value
    return True


cdef bint skip_scalar(Envelope* e) noexcept nogil:
    """A text, a number or null that says nothing about the record to be sent."""
    cdef uint8_t* begin = e.to
    cdef int64_t number
    cdef bint good
    if next_is(e, c'"'):
        good = put_string(e)
        e.to = begin
        return good
    return read_number(e, &number)


cdef bint put_sized(Envelope* e, bint name) noexcept nogil:
    """A header's name or value with its length in front."""
    cdef uint8_t* begin = e.to
    cdef Py_ssize_t length
    cdef int size
    e.to += 1
    if name:
        if not next_is(e, c'"') or not put_string(e):
            return False
        length = e.to - begin - 1
    else:
        length = put_bytes(e)
        if length == -2:
            return False
    size = width(zigzag(length))
    if size > 1:
        memmove(begin + size, begin + 1, length)
        e.to += size - 1
    put_varint(begin, zigzag(length))
    return True


cdef bint copy_headers(Envelope* e) noexcept nogil:
    """A list of [name, value], or kcat's of names and values in turn, as headers end a record: up to 63."""
    cdef uint8_t* begin = e.to
    cdef int count = 0
    cdef bint pairs
    skip_space(e)
    if word_is(e, b"null", 4):
        return True
    if not next_is(e, c"["):
        return False
    if next_is(e, c"]"):
        return True
    e.to += 1
    skip_space(e)
    pairs = e.at < e.end and e.at[0] == c"["
    while True:
        if pairs and not next_is(e, c"["):
            return False
        if not (put_sized(e, True) and next_is(e, c",") and put_sized(e, False)):
            return False
        if pairs and not next_is(e, c"]"):
            return False
        count += 1
        if not next_is(e, c","):
            break
    if count > 63 or not next_is(e, c"]"):
        return False
    begin[0] = <uint8_t> (count << 1)
    e.tail, e.tail_length = begin - e.begin, e.to - begin
    return True


cdef int envelope_field(Envelope* e) noexcept nogil:
    """Which field the name says, which begins here; 0 for another."""
    cdef const uint8_t* name = e.at
    cdef const uint8_t* stop = <const uint8_t*> memchr(name, c'"', e.end - name)
    cdef Py_ssize_t size
    if stop == NULL:
        return 0
    size = stop - name
    e.at = stop + 1
    if size == 2:
        return E_TS if memcmp(name, b"ts", 2) == 0 else 0
    if size == 3:
        return E_KEY if memcmp(name, b"key", 3) == 0 else 0
    if size == 5:
        return E_TOPIC if memcmp(name, b"topic", 5) == 0 else E_VALUE if memcmp(name, b"value", 5) == 0 else 0
    if size == 6:
        if memcmp(name, b"offset", 6) == 0:
            return E_OFFSET
        return E_TSTYPE if memcmp(name, b"tstype", 6) == 0 else E_BROKER if memcmp(name, b"broker", 6) == 0 else 0
    if size == 7:
        return E_HEADERS if memcmp(name, b"headers", 7) == 0 else E_PAYLOAD if memcmp(name, b"payload", 7) == 0 else 0
    if size == 9:
        if memcmp(name, b"partition", 9) == 0:
            return E_PARTITION
        return E_TIMESTAMP if memcmp(name, b"timestamp", 9) == 0 else 0
    return E_TIMESTAMP_TYPE if size == 14 and memcmp(name, b"timestamp_type", 14) == 0 else 0


cdef bint read_field(Envelope* e, int known) noexcept nogil:
    """The value of a field."""
    if known == E_KEY:
        e.key = e.to - e.begin
        e.key_length = put_key_or_value(e)
        return e.key_length != -2
    if known == E_VALUE or known == E_PAYLOAD:
        e.value = e.to - e.begin
        e.value_length = put_key_or_value(e)
        return e.value_length != -2
    if known == E_HEADERS:
        return copy_headers(e)
    if known == E_PARTITION:
        return read_number(e, &e.partition) and -1 <= e.partition <= 2147483647
    if known == E_TIMESTAMP or known == E_TS:
        return read_number(e, &e.timestamp) and e.timestamp >= -1
    return skip_scalar(e)


cdef bint read_envelope(Envelope* e, bint kcat) noexcept nogil:
    """One line; False if it is to be read by the reader in Python."""
    cdef int seen = 0, known
    e.partition = e.key_length = e.value_length = -1
    e.raw = False
    e.timestamp = INT64_MIN  # none is given; -1 is a record that has none
    e.key = e.value = e.tail = e.tail_length = 0
    if not next_is(e, c"{"):
        return False
    while True:
        if not next_is(e, c'"'):
            return False
        known = envelope_field(e)
        if not known or seen & known or not next_is(e, c":") or not read_field(e, known):
            return False
        seen |= known
        if not next_is(e, c","):
            break
    if not next_is(e, c"}"):
        return False
    skip_space(e)
    if e.at != e.end:
        return False
    if seen & E_PAYLOAD:
        return not e.raw and not seen & ~E_KCATS
    return not kcat and seen & E_VALUE and not seen & ~E_OURS


def read_envelopes(chunk, Py_ssize_t start, Py_ssize_t end, int delimiter, bint kcat, int64_t now, bint readable=False):
    """As plain.envelopes.read_envelopes."""
    cdef const uint8_t[::1] view = chunk
    cdef Py_ssize_t count = 0, room = 256, lines = 0, consumed = start, space
    cdef const uint8_t* stop
    cdef const uint8_t* last
    cdef Envelope e
    cdef bytearray arena = bytearray()
    cdef array.array column
    cdef list columns
    if end > view.shape[0]:
        end = view.shape[0]
    if end - start > 1 << 30:
        raise ValueError("a chunk of more than 1 GiB")
    space = max(end - start, 0) + 4096
    PyByteArray_Resize(arena, space)
    columns = [array.clone(INTS if at < 7 else LONGS, room, False) for at in range(8)]
    cdef array.array ks = columns[0], kl = columns[1], vs = columns[2], vl = columns[3]
    cdef array.array hs = columns[4], hl = columns[5], places = columns[6], times = columns[7]
    e.readable = readable
    e.begin = e.to = <uint8_t*> PyByteArray_AS_STRING(arena)
    if 0 <= start < end:
        e.at, last = &view[0] + start, &view[0] + end
        while e.at < last:
            stop = <const uint8_t*> memchr(e.at, delimiter, last - e.at)
            if stop == NULL or space - (e.to - e.begin) < stop - e.at + 64:
                break
            e.end = stop
            skip_space(&e)
            if e.at < stop:
                if not read_envelope(&e, kcat):
                    break
                if count == room:
                    room *= 2
                    for column in columns:
                        array.resize(column, room)
                ks.data.as_ints[count], kl.data.as_ints[count] = <int> e.key, <int> e.key_length
                vs.data.as_ints[count], vl.data.as_ints[count] = <int> e.value, <int> e.value_length
                hs.data.as_ints[count], hl.data.as_ints[count] = <int> e.tail, <int> e.tail_length
                places.data.as_ints[count] = <int> e.partition
                (<int64_t*> times.data.as_voidptr)[count] = now if e.timestamp == INT64_MIN else e.timestamp
                count += 1
            lines += 1
            e.at = stop + 1
            consumed = e.at - &view[0]
    for column in columns:
        array.resize(column, count)
    return Envelopes(arena, Lines(ks, kl, vs, vl, consumed), places, times, (hs, hl), lines)
