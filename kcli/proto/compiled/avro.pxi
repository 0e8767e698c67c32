# Avro values as JSON: a program of avro_code.py run over payloads; as plain/avro.py.

cdef enum:  # avro_code.py has the same, in the same order; a test compares them
    A_NULL, A_BOOLEAN, A_INT, A_LONG, A_FLOAT, A_DOUBLE, A_BYTES, A_STRING, A_FIXED, A_ENUM, A_RECORD, A_ARRAY, A_MAP
    A_UNION, A_WRAP, A_REFUSE, A_DATE, A_TIME, A_TIMESTAMP, A_DECIMAL, A_UUID, A_DURATION, A_INT_AS_FLOAT
    A_INT_AS_DOUBLE, A_LONG_AS_FLOAT, A_LONG_AS_DOUBLE, A_FLOAT_AS_DOUBLE, A_BYTES_AS_STRING, A_REST, A_LATIN

cdef enum:
    DEEPEST = 256
    MOST_NOTHING = 1000000
    LONGEST_DECIMAL = 1024
    LONGEST_NAME = 384


cdef class AvroReader(ColumnReader):
    """As plain.avro.AvroReader."""

    cdef array.array held
    cdef list kept
    cdef const int32_t* code
    cdef const char** texts
    cdef Py_ssize_t* sizes

    def __cinit__(self, code, texts):
        cdef Py_ssize_t i
        self.held = arrays.array("i", code)
        self.kept = [bytes(text) for text in texts]
        self.code = <const int32_t*> self.held.data.as_ints
        self.texts = <const char**> malloc((len(self.kept) + 1) * sizeof(char*))
        self.sizes = <Py_ssize_t*> malloc((len(self.kept) + 1) * sizeof(Py_ssize_t))
        if self.texts == NULL or self.sizes == NULL:
            raise MemoryError
        for i in range(len(self.kept)):
            self.texts[i], self.sizes[i] = PyBytes_AS_STRING(self.kept[i]), PyBytes_GET_SIZE(self.kept[i])

    def __dealloc__(self):
        free(self.texts)
        free(self.sizes)

    cdef int row(self, Output o, const uint8_t* at, const uint8_t* end) except -1:
        """As plain.avro.AvroReader.json."""
        cdef Avro a
        cdef int fault
        a.at, a.end = at, end
        a.code, a.texts, a.sizes = self.code, self.texts, self.sizes
        a.begin = o.to - PyByteArray_AS_STRING(o.out)
        a.most = ROOM + RATIO * (end - at)
        a.nothing = 0
        fault = avro_value(&a, o, 0, 0)
        return F_LEFT if fault == F_WHOLE and a.at != end else fault


cdef struct Avro:
    const uint8_t* at
    const uint8_t* end
    const int32_t* code
    const char** texts
    Py_ssize_t* sizes
    Py_ssize_t begin
    Py_ssize_t most
    int64_t nothing
    int64_t written  # of columns: bytes of what took few or none


cdef inline int large(Avro* a, Output o) noexcept:
    """F_LARGE where more was written for a payload than it may become."""
    return F_LARGE if o.to - PyByteArray_AS_STRING(o.out) - a.begin > a.most else F_WHOLE


cdef inline int put_piece(Avro* a, Output o, const char* piece, Py_ssize_t size) except -1:
    if o.stop - o.to < size:
        o.room(size)
    o.to = put(o.to, piece, size)
    return large(a, o)


cdef inline int nothing_read(Avro* a) noexcept:
    a.nothing += 1
    return F_NOTHING if a.nothing > MOST_NOTHING else F_WHOLE


cdef inline int number_of(Avro* a, int bits, int64_t* value) noexcept:
    """A zigzag varint. One that the payload cuts off and one that is too long are two faults."""
    cdef const uint8_t* at = a.at
    cdef uint64_t byte, total = 0
    cdef int shift = 0
    while shift < bits:
        if at >= a.end:
            return F_CUT
        byte = at[0]
        at += 1
        if byte < 128:
            if shift + 7 > bits and byte >> (bits - shift):
                return F_VARINT
            total |= byte << shift
            a.at = at
            value[0] = <int64_t> (total >> 1) ^ -<int64_t> (total & 1)
            return F_WHOLE
        total |= (byte & 127) << shift
        shift += 7
    return F_VARINT


cdef inline int length_of(Avro* a, int64_t* length) noexcept:
    cdef int fault = number_of(a, 64, length)
    if fault:
        return fault
    if length[0] < 0:
        return F_NEGATIVE
    return F_CUT if length[0] > a.end - a.at else F_WHOLE


cdef inline int index_of(Avro* a, int32_t count, int64_t* index) noexcept:
    cdef int fault = number_of(a, 64, index)
    if fault:
        return fault
    return F_WHOLE if 0 <= index[0] < count else F_INDEX


cdef int avro_value(Avro* a, Output o, Py_ssize_t place, int depth) except -1:
    """One value; its fault, or F_WHOLE."""
    cdef const int32_t* code = a.code
    cdef int64_t number = 0
    cdef int fault, open = 0
    while True:
        if code[place] == A_UNION:
            fault = index_of(a, code[place + 1], &number)
            if fault:
                return fault
            place = code[place + 2 + number]
        elif code[place] == A_WRAP:
            fault = put_piece(a, o, a.texts[code[place + 1]], a.sizes[code[place + 1]])
            if fault:
                return fault
            open += 1
            place = code[place + 2]
        else:
            break
    if code[place] == A_RECORD:
        fault = avro_record(a, o, place, depth + 1)
    elif code[place] == A_ARRAY or code[place] == A_MAP:
        fault = avro_blocks(a, o, place, depth + 1)
    elif code[place] <= A_STRING:
        fault = avro_plain(a, o, code[place])
    else:
        fault = avro_other(a, o, &code[place])
    while open and not fault:
        fault = put_piece(a, o, b"}", 1)
        open -= 1
    return fault


cdef int avro_record(Avro* a, Output o, Py_ssize_t place, int depth) except -1:
    cdef const int32_t* code = a.code
    cdef const int32_t* each = &code[place + 3]
    cdef const uint8_t* before = a.at
    cdef Py_ssize_t kept
    cdef int fault
    cdef int32_t left = code[place + 1]
    if depth > DEEPEST:
        return F_DEEP
    while left > 0:
        if each[0] < 0:
            kept = o.to - PyByteArray_AS_STRING(o.out)
            fault = avro_value(a, o, each[1], depth)
            o.to = PyByteArray_AS_STRING(o.out) + kept
        else:
            fault = put_piece(a, o, a.texts[each[0]], a.sizes[each[0]])
            if fault:
                return fault
            fault = avro_value(a, o, each[1], depth)
        if fault:
            return fault
        each += 2
        left -= 1
    if a.at == before and nothing_read(a):
        return F_NOTHING
    return put_piece(a, o, a.texts[code[place + 2]], a.sizes[code[place + 2]])


cdef int avro_blocks(Avro* a, Output o, Py_ssize_t place, int depth) except -1:
    """An array or a map: blocks of items, each with its count, until one of none."""
    cdef Py_ssize_t item = a.code[place + 1]
    cdef int64_t count = 0, size = 0, fewest = a.code[place + 2]
    cdef bint named = a.code[place] == A_MAP, more_than_one = False
    cdef int fault
    if depth > DEEPEST:
        return F_DEEP
    fault = put_piece(a, o, b"{" if named else b"[", 1)
    while not fault:
        fault = number_of(a, 64, &count)
        if fault:
            return fault
        if count == 0:
            return put_piece(a, o, b"}" if named else b"]", 1)
        if count < 0:
            count = INT64_MAX if count == INT64_MIN else -count
            fault = length_of(a, &size)
            if fault:
                return fault
        if fewest:
            if count > (a.end - a.at) // fewest:
                return F_BLOCK
        elif count > MOST_NOTHING:
            return F_NOTHING
        while count > 0:
            if more_than_one:
                fault = put_piece(a, o, b",", 1)
                if fault:
                    return fault
            more_than_one = True
            if named:
                fault = avro_string(a, o)
                if fault == 0:
                    fault = put_piece(a, o, b":", 1)
                if fault:
                    return fault
            fault = avro_value(a, o, item, depth)
            if fault:
                return fault
            count -= 1
    return fault


cdef int avro_string(Avro* a, Output o) except -1:
    """A length and UTF-8 as a JSON string; what is not UTF-8 is replaced."""
    cdef int64_t length = 0
    cdef int fault = length_of(a, &length)
    if fault:
        return fault
    put_lossy(o, a.at, length)
    a.at += length
    return large(a, o)


cdef inline int put_lossy(Output o, const uint8_t* at, Py_ssize_t size) except -1:
    """A JSON string; what is not UTF-8 is replaced."""
    o.room(6 * size + 32)
    cdef char* begin = o.to
    o.to = put_text(begin, at, size)
    if begin[0] != c'"':
        o.to = begin
        put_text_replaced(o, at, size)
    return 0


cdef int put_text_replaced(Output o, const uint8_t* at, Py_ssize_t size) except -1:
    cdef bytes other = replaced(at, size)
    o.room(6 * PyBytes_GET_SIZE(other) + 32)
    o.to = put_text(o.to, <const uint8_t*> PyBytes_AS_STRING(other), PyBytes_GET_SIZE(other))
    return 0


cdef bytes replaced(const uint8_t* at, Py_ssize_t size):
    from kcli.proto.plain.avro_texts import replaced as of_bytes  # seldom, and not worth C

    return of_bytes(PyBytes_FromStringAndSize(<const char*> at, size))


cdef int avro_bytes(Avro* a, Output o, int64_t length) except -1:
    o.room(4 * ((length + 2) // 3) + 16)
    o.to = put_base64(o.to, a.at, length)
    a.at += length
    return large(a, o)


cdef int avro_plain(Avro* a, Output o, int32_t kind) except -1:
    """The eight types that have neither a name nor parts."""
    cdef int64_t number = 0
    cdef uint64_t bits
    cdef uint32_t half
    cdef float small
    cdef double wide
    cdef int fault
    if kind == A_STRING:
        return avro_string(a, o)
    if kind == A_BYTES:
        fault = length_of(a, &number)
        return fault if fault else avro_bytes(a, o, number)
    if o.stop - o.to < 32:
        o.room(32)
    if kind == A_INT or kind == A_LONG:
        fault = number_of(a, 32 if kind == A_INT else 64, &number)
        if fault:
            return fault
        o.to = put_digits(o.to, number)
    elif kind == A_NULL:
        o.to = put(o.to, b"null", 4)
        if nothing_read(a):
            return F_NOTHING
    elif kind == A_BOOLEAN:
        if a.at >= a.end:
            return F_CUT
        if a.at[0] > 1:
            return F_NO_BOOLEAN
        o.to = put(o.to, b"true", 4) if a.at[0] else put(o.to, b"false", 5)
        a.at += 1
    elif kind == A_DOUBLE:
        if a.end - a.at < 8:
            return F_CUT
        bits = little(a.at, 8)
        memcpy(&wide, &bits, 8)
        a.at += 8
        o.to = put_double(o.to, wide)
    else:
        if a.end - a.at < 4:
            return F_CUT
        half = <uint32_t> little(a.at, 4)
        memcpy(&small, &half, 4)
        a.at += 4
        o.to = put_single(o.to, small)
    return large(a, o)


cdef int avro_other(Avro* a, Output o, const int32_t* code) except -1:
    """Names, logical types and promotions."""
    cdef int64_t number = 0
    cdef int32_t kind = code[0]
    cdef int fault = F_WHOLE
    if kind == A_ENUM:
        fault = index_of(a, code[1], &number)
        if fault:
            return fault
        if code[2 + number] < 0:
            return F_REFUSED
        return put_piece(a, o, a.texts[code[2 + number]], a.sizes[code[2 + number]])
    if kind == A_REFUSE:
        return F_REFUSED
    if kind == A_BYTES_AS_STRING:
        return avro_string(a, o)
    if kind == A_FIXED or kind == A_REST or kind == A_LATIN or kind == A_DECIMAL:
        number = a.end - a.at if kind == A_REST else code[1]
        if number < 0:
            fault = length_of(a, &number)
            if fault:
                return fault
        if number > a.end - a.at:
            return F_CUT
        if number == 0 and kind != A_REST and code[1] == 0 and nothing_read(a):
            return F_NOTHING
        if kind == A_LATIN:
            return avro_latin(a, o, number)
        return avro_decimal(a, o, number, code[2]) if kind == A_DECIMAL else avro_bytes(a, o, number)
    o.room(80)
    if kind == A_UUID or kind == A_DURATION:
        number = 16 if kind == A_UUID else 12
        if a.end - a.at < number:
            return F_CUT
        o.to = put_uuid(o.to, a.at) if kind == A_UUID else put_duration(o.to, a.at)
        a.at += number
        return large(a, o)
    return avro_number(a, o, code)


cdef int avro_number(Avro* a, Output o, const int32_t* code) except -1:
    """A number that is shown as a date, a time or a float; there is room."""
    cdef int64_t number = 0
    cdef int32_t kind = code[0]
    cdef uint32_t half
    cdef float small
    cdef int fault
    if kind == A_FLOAT_AS_DOUBLE:
        if a.end - a.at < 4:
            return F_CUT
        half = <uint32_t> little(a.at, 4)
        memcpy(&small, &half, 4)
        a.at += 4
        o.to = put_double(o.to, small)
        return large(a, o)
    fault = number_of(
        a,
        32 if kind == A_DATE or kind == A_INT_AS_FLOAT or kind == A_INT_AS_DOUBLE or (kind == A_TIME and code[1] == 3)
        else 64,
        &number,
    )
    if fault:
        return fault
    if kind == A_DATE:
        o.to[0] = c'"'
        o.to = put_day(o.to + 1, number)
        o.to[0] = c'"'
        o.to += 1
    elif kind == A_TIME:
        o.to = put_time(o.to, number, code[1])
    elif kind == A_TIMESTAMP:
        o.to = put_timestamp(o.to, number, code[1], code[2] == 1)
    elif kind == A_INT_AS_FLOAT or kind == A_LONG_AS_FLOAT:
        o.to = put_single(o.to, <float> number)
    else:
        o.to = put_double(o.to, <double> number)
    return large(a, o)


cdef int avro_latin(Avro* a, Output o, int64_t length) except -1:
    """Bytes as the specification's JSON has them: a string with a character per byte."""
    cdef bytes wide = PyBytes_FromStringAndSize(<const char*> a.at, length).decode("latin-1").encode()
    o.room(6 * PyBytes_GET_SIZE(wide) + 32)
    o.to = put_text(o.to, <const uint8_t*> PyBytes_AS_STRING(wide), PyBytes_GET_SIZE(wide))
    a.at += length
    return large(a, o)


cdef int avro_decimal(Avro* a, Output o, int64_t length, int32_t scale) except -1:
    """A big-endian two's complement with `scale` digits behind the point."""
    cdef const uint8_t* at = a.at
    cdef const uint8_t* end = at + length
    cdef uint64_t value = 0
    cdef char digits[24]
    cdef Py_ssize_t count
    cdef bint negative
    cdef bytes made
    if length > LONGEST_DECIMAL:
        return F_DIGITS
    a.at = end
    if scale < 0:
        from kcli.proto.plain.avro_texts import big_decimal

        made = big_decimal(PyBytes_FromStringAndSize(<const char*> at, length))
        return put_piece(a, o, PyBytes_AS_STRING(made), PyBytes_GET_SIZE(made))
    negative = length > 0 and at[0] > 127
    while end - at > 8 and at[0] == (255 if negative else 0) and (at[1] > 127) == negative:
        at += 1
    if end - at > 8:
        from kcli.proto.plain.avro_texts import decimal

        made = decimal(PyBytes_FromStringAndSize(<const char*> at, end - at), scale)
        return put_piece(a, o, PyBytes_AS_STRING(made), PyBytes_GET_SIZE(made))
    if negative:
        value = <uint64_t> -1
    while at < end:
        value = value << 8 | at[0]
        at += 1
    if negative:
        value = -value
    count = 0
    while value or count <= scale and count < 24:
        digits[count] = <char> (48 + value % 10)
        value //= 10
        count += 1
    o.room(scale + 40)
    o.to = put(o.to, b'"-', 2) if negative else put(o.to, b'"', 1)
    if count <= scale:  # more digits behind the point than the number has
        o.to = put(o.to, b"0.", 2)
        memset(o.to, 48, scale - count)
        o.to += scale - count
        scale = 0
    while count > 0:
        if count == scale:
            o.to[0] = c"."
            o.to += 1
        count -= 1
        o.to[0] = digits[count]
        o.to += 1
    o.to[0] = c'"'
    o.to += 1
    return large(a, o)


def frame_ids(data, starts, lengths):
    """As plain.avro.frame_ids."""
    cdef const uint8_t[::1] view = data
    cdef const int[::1] at = starts, sizes = lengths
    cdef Py_ssize_t row, rows = at.shape[0]
    cdef array.array ids = array.clone(LONGS, rows, False)
    cdef int64_t* made = <int64_t*> ids.data.as_voidptr
    for row in range(rows):
        if sizes[row] < 5:
            made[row] = -1
        elif at[row] < 0 or at[row] > view.shape[0] - sizes[row]:
            raise DecodeError("a field outside its buffer")
        else:
            made[row] = -1 if view[at[row]] else <int64_t> big(&view[at[row]] + 1, 4)
    return ids


cdef inline Py_ssize_t schema_name(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """How many bytes at the front name a schema, as plain.avro._schema_name; 0 for none."""
    if size < 5:
        return 0
    if at[0] == 0:
        return 9 if size >= 9 and big(at + 1, 4) == 0 and big(at + 5, 4) != 0 else 5
    if at[0] == 1:
        return 17 if size >= 17 else 0
    if at[0] == 3:
        return 18 if size >= 18 and (at[1] == 0 or at[1] == 5) else 0
    return 10 if size >= 10 and at[0] == 0xC3 and at[1] == 1 else 0


cdef const uint8_t* named_header(const uint8_t* at, const uint8_t* end, int64_t left, const uint8_t* name,
                                 Py_ssize_t size, Py_ssize_t* found_size) noexcept nogil:
    """The content of the last header of this name that names a schema, and its size; NULL without one."""
    cdef const uint8_t* found = NULL
    cdef int64_t length = 0
    cdef bint same
    while left > 0:
        at = field(at, end, &length)
        if at == NULL or length < 0:
            return NULL
        same = length == size and memcmp(at, name, size) == 0
        at = field(at + length, end, &length)
        if at == NULL:
            return NULL
        if length > 0:
            if same and at[0] <= 1 and schema_name(at, length):
                found = at
                found_size[0] = min(length, LONGEST_NAME)
            at += length
        left -= 1
    return found


def frame_names(columns, starts, lengths, bytes header):
    """As plain.avro.frame_names."""
    cdef const uint8_t[::1] view = columns.data
    cdef const int[::1] at = starts, sizes = lengths, headers_at = columns.header_starts, counts = columns.header_counts
    cdef Py_ssize_t row, rows = at.shape[0], total = view.shape[0], size = 0, last_size = 0
    cdef array.array which = array.clone(INTS, rows, False), skips = array.clone(INTS, rows, False)
    cdef int* number = which.data.as_ints
    cdef int* skip = skips.data.as_ints
    cdef const uint8_t* name
    cdef const uint8_t* last = NULL
    cdef const uint8_t* wanted = header
    cdef int latest = -1
    cdef dict numbers = {}
    for row in range(rows):
        number[row], skip[row] = -1, 0
        if sizes[row] < 0:
            continue
        if at[row] < 0 or at[row] > total - sizes[row]:
            raise DecodeError("a field outside its buffer")
        name = NULL
        if counts[row] > 0 and header:
            if not 0 <= headers_at[row] < total:
                raise DecodeError("headers outside their buffer")
            name = named_header(&view[headers_at[row]], &view[0] + total, counts[row], wanted, len(header),
                                &size)
        if name == NULL:
            size = schema_name(&view[0] + at[row], sizes[row])
            if size == 0:
                continue
            name, skip[row] = &view[at[row]], <int> size
        if size != last_size or memcmp(name, last, size):
            key = PyBytes_FromStringAndSize(<const char*> name, size)
            latest = numbers.setdefault(key, len(numbers))
            last, last_size = name, size
        number[row] = latest
    return list(numbers), which, skips
