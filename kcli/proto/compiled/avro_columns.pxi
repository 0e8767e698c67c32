# Avro values as Arrow's columns: a program of avro_columns_code.py run over payloads; as plain/avro_columns.py.

cdef enum:  # avro_columns_code.py has the same, in the same order; a test compares them
    C_NULL, C_BOOLEAN, C_INT, C_LONG, C_NUMBER, C_FLOAT, C_DOUBLE, C_WIDEN, C_TEXT, C_BYTES, C_ENUM, C_DECIMAL, C_DIGITS
    C_UUID, C_REFUSE, C_DEFAULT, C_RECORD, C_ARRAY, C_MAP, C_MEMBER, C_UNION

cdef enum:
    S_WIDE, S_MILLIS, S_SINGLE, S_DOUBLED

cdef enum:
    L_VOID, L_BITS, L_FOUR, L_EIGHT, L_SIXTEEN, L_VARIABLE, L_LIST, L_STRUCT

cdef enum:
    EMPTY = 8
    MOST_DIGITS = 38
    SHORT = 64  # bytes of a text
    KNOWN = 256  # rows after which the length of a column's texts is estimated
    AHEAD = 8  # times as much room as there was, at most, by an estimate

cdef int64_t MOST = 2147483647
cdef int64_t MOST_SECONDS = 9223372036854775  # thousands of microseconds
cdef uint64_t[39] HIGHS
cdef uint64_t[39] LOWS

cdef struct Column:
    int32_t kind
    int32_t nullable
    int32_t span
    Py_ssize_t rows
    Py_ssize_t room
    Py_ssize_t expected
    Py_ssize_t used
    Py_ssize_t space
    uint8_t* valid
    uint8_t* data
    uint8_t* text


cdef Py_ssize_t cells_size(int32_t kind, Py_ssize_t rows) noexcept:
    """Of the cells of so many rows."""
    if kind == L_BITS:
        return (rows + 7) >> 3
    if kind == L_FOUR:
        return 4 * rows
    if kind == L_EIGHT:
        return 8 * rows
    if kind == L_SIXTEEN:
        return 16 * rows
    return 4 * (rows + 1) if kind == L_VARIABLE or kind == L_LIST else 0


@cython.final
cdef class Table:
    """Columns that grow, as plain.avro_columns.Table."""

    cdef Column* columns
    cdef Py_ssize_t count
    cdef list held  # three buffers a column: valid, data, text

    def __cinit__(self, layout, Py_ssize_t rows):
        cdef Py_ssize_t i, inner = 0
        cdef object power
        self.count = len(layout) // 3
        self.columns = <Column*> malloc(self.count * sizeof(Column))
        if self.columns == NULL:
            raise MemoryError
        memset(self.columns, 0, self.count * sizeof(Column))
        self.held = [bytearray() for _ in range(3 * self.count)]
        for i in range(self.count):
            self.columns[i].kind = layout[3 * i]
            self.columns[i].nullable = layout[3 * i + 1]
            self.columns[i].span = layout[3 * i + 2]
            if i >= inner:  # no part of a list: it has a cell for each row
                self.columns[i].expected = rows
                if self.columns[i].kind == L_LIST:
                    inner = i + self.columns[i].span
            self.reserve(&self.columns[i])
            if cells_size(self.columns[i].kind, 0):
                (<int32_t*> self.columns[i].data)[0] = 0
        if LOWS[0] == 0:
            power = 1
            for i in range(MOST_DIGITS + 1):
                HIGHS[i] = power >> 64
                LOWS[i] = power & 0xFFFFFFFFFFFFFFFF
                power = power * 10

    def __dealloc__(self):
        free(self.columns)

    cdef int reserve(self, Column* c) except -1:
        """Room for more rows."""
        cdef Py_ssize_t before = (c.room + 7) >> 3, number = 3 * (c - self.columns)
        cdef bytearray valid = self.held[number], data = self.held[number + 1]
        if c.rows >= MOST:
            raise DecodeError("more than 2 GiB of records at once")
        c.room = max(2 * c.room, (c.expected + 7) & ~<Py_ssize_t> 7, <Py_ssize_t> 64)
        if c.nullable:
            PyByteArray_Resize(valid, (c.room + 7) >> 3)
            c.valid = <uint8_t*> PyByteArray_AS_STRING(valid)
            memset(c.valid + before, 255, ((c.room + 7) >> 3) - before)
        PyByteArray_Resize(data, cells_size(c.kind, c.room))
        c.data = <uint8_t*> PyByteArray_AS_STRING(data)
        return 0

    cdef int space_for(self, Column* c, Py_ssize_t size) except -1:
        """Room for more bytes of text."""
        cdef bytearray text = self.held[3 * (c - self.columns) + 2]
        cdef Py_ssize_t more
        if c.used + size > MOST:
            raise DecodeError("more than 2 GiB of records at once")
        more = max(size, c.space, <Py_ssize_t> 4096)
        if KNOWN <= c.rows < c.expected:
            more = max(more, min(AHEAD * c.space, c.used // c.rows * (c.expected - c.rows) + c.used // 8))
        more = max(size - (c.space - c.used), min(more, MOST - c.space))
        c.space += more
        PyByteArray_Resize(text, c.space)
        c.text = <uint8_t*> PyByteArray_AS_STRING(text)
        return 0

    cdef int null(self, Avro* a, Column* c) except -1:
        """A null; in a column without nulls, the filler below a struct that is null."""
        cdef Column* part
        if c.rows == c.room:
            self.reserve(c)
        a.written += EMPTY
        if c.kind == L_STRUCT:
            part = c + 1
            while part < c + c.span:
                self.null(a, part)
                part += part.span
        elif c.kind == L_BITS:
            c.data[c.rows >> 3] &= <uint8_t> ~(1 << (c.rows & 7))
        elif c.kind == L_VARIABLE or c.kind == L_LIST:
            (<int32_t*> c.data)[c.rows + 1] = (<int32_t*> c.data)[c.rows]
        elif c.kind != L_VOID:
            memset(c.data + cells_size(c.kind, c.rows), 0, cells_size(c.kind, 1))
        if c.nullable:
            c.valid[c.rows >> 3] &= <uint8_t> ~(1 << (c.rows & 7))
        c.rows += 1
        return 0

    cdef void cut(self, Column* c, Py_ssize_t rows) noexcept:
        """Drop all but the first `rows` rows."""
        cdef Column* part = c + 1
        if c.nullable:  # a row is not null until it is said to be
            while c.rows > rows:
                c.rows -= 1
                c.valid[c.rows >> 3] |= <uint8_t> (1 << (c.rows & 7))
        c.rows = rows
        if c.kind == L_VARIABLE:
            c.used = (<int32_t*> c.data)[rows]
        elif c.kind == L_LIST:
            self.cut(part, (<int32_t*> c.data)[rows])
        elif c.kind == L_STRUCT:
            while part < c + c.span:
                self.cut(part, rows)
                part += part.span

    cdef list taken(self):
        cdef Py_ssize_t i
        cdef Column* c
        cdef bytearray valid, data, text
        cdef list found = []
        for i in range(self.count):
            c = &self.columns[i]
            valid, data, text = self.held[3 * i], self.held[3 * i + 1], self.held[3 * i + 2]
            PyByteArray_Resize(valid, (c.rows + 7) >> 3 if c.nullable else 0)
            PyByteArray_Resize(data, cells_size(c.kind, c.rows))
            PyByteArray_Resize(text, c.used)
            if c.rows & 7 and c.nullable:
                (<uint8_t*> PyByteArray_AS_STRING(valid))[c.rows >> 3] &= <uint8_t> ((1 << (c.rows & 7)) - 1)
            if c.rows & 7 and c.kind == L_BITS:
                (<uint8_t*> PyByteArray_AS_STRING(data))[c.rows >> 3] &= <uint8_t> ((1 << (c.rows & 7)) - 1)
            found.append((
                c.rows, valid if c.nullable else None, data if cells_size(c.kind, 8) else None,
                text if c.kind == L_VARIABLE else None
            ))
        return found


cdef inline void put_row(Column* c) noexcept:
    """The cell of the next row is there."""
    c.rows += 1


cdef inline int put_span(Table t, Column* c, const uint8_t* at, Py_ssize_t size) except -1:
    """A cell of bytes."""
    if c.rows == c.room:
        t.reserve(c)
    if c.space - c.used < size:
        t.space_for(c, size)
    memcpy(c.text + c.used, at, size)
    c.used += size
    (<int32_t*> c.data)[c.rows + 1] = <int32_t> c.used
    put_row(c)
    return 0


cdef inline int put_utf8(Table t, Column* c, const uint8_t* at, Py_ssize_t size) except -1:
    """A cell of text; a short one is copied and looked at in words. What is not UTF-8 is replaced."""
    cdef uint64_t word, seen = 0
    cdef Py_ssize_t done = 0
    cdef uint8_t* to
    if size > SHORT:
        return put_span(t, c, at, size) if is_utf8(at, size) else put_replaced(t, c, at, size)
    if c.rows == c.room:
        t.reserve(c)
    if c.space - c.used < size:
        t.space_for(c, size)
    to = c.text + c.used
    if size >= 8:
        while done < size - 8:
            memcpy(&word, at + done, 8)
            memcpy(to + done, &word, 8)
            seen |= word
            done += 8
        memcpy(&word, at + size - 8, 8)
        memcpy(to + size - 8, &word, 8)
        seen |= word
    else:
        while done < size:
            to[done] = at[done]
            seen |= at[done]
            done += 1
    if seen & 0x8080808080808080ULL and not is_utf8(at, size):
        return put_replaced(t, c, at, size)
    c.used += size
    (<int32_t*> c.data)[c.rows + 1] = <int32_t> c.used
    put_row(c)
    return F_WHOLE


cdef int put_replaced(Table t, Column* c, const uint8_t* at, Py_ssize_t size) except -1:
    cdef bytes other = replaced(at, size)
    return put_span(t, c, <const uint8_t*> PyBytes_AS_STRING(other), PyBytes_GET_SIZE(other))


cdef inline bint is_utf8(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    cdef const uint8_t* end = at + size
    cdef uint64_t word
    cdef int step
    while at < end:
        if end - at >= 8:
            memcpy(&word, at, 8)
            if not word & 0x8080808080808080ULL:
                at += 8
                continue
        if at[0] < 128:
            at += 1
            continue
        step = utf8_size(at, end)
        if step == 0:
            return False
        at += step
    return True


cdef int column_value(Table t, Avro* a, Py_ssize_t place, int depth) except -1:
    """One value; its fault, or F_WHOLE."""
    cdef const int32_t* code = a.code + place
    cdef Column* c
    cdef int64_t number = 0
    cdef uint64_t bits
    cdef uint32_t half
    cdef float small
    cdef uint8_t byte
    cdef int fault
    cdef int32_t kind
    while code[0] == C_UNION:
        fault = index_of(a, code[1], &number)
        if fault:
            return fault
        code = a.code + code[2 + number]
    kind = code[0]
    if kind >= C_ENUM:
        return column_other(t, a, code, depth)
    c = NULL
    if code[1] >= 0:
        c = t.columns + code[1]
        if c.rows == c.room:
            t.reserve(c)
    if kind == C_TEXT:
        fault = length_of(a, &number)
        if fault:
            return fault
        if c != NULL:
            fault = put_utf8(t, c, a.at, number)
        a.at += number
        return fault
    elif kind == C_LONG:
        fault = number_of(a, 64, &number)
        if fault or c == NULL:
            return fault
        (<int64_t*> c.data)[c.rows] = number
    elif kind == C_INT:
        fault = number_of(a, 32, &number)
        if fault or c == NULL:
            return fault
        (<int32_t*> c.data)[c.rows] = <int32_t> number
    elif kind == C_DOUBLE:
        if a.end - a.at < 8:
            return F_CUT
        bits = little(a.at, 8)
        a.at += 8
        if c == NULL:
            return F_WHOLE
        (<uint64_t*> c.data)[c.rows] = bits
    elif kind == C_FLOAT or kind == C_WIDEN:
        if a.end - a.at < 4:
            return F_CUT
        half = <uint32_t> little(a.at, 4)
        a.at += 4
        if c == NULL:
            return F_WHOLE
        if kind == C_FLOAT:
            (<uint32_t*> c.data)[c.rows] = half
        else:
            memcpy(&small, &half, 4)
            (<double*> c.data)[c.rows] = small
    elif kind == C_BOOLEAN:
        if a.at >= a.end:
            return F_CUT
        byte = a.at[0]
        if byte > 1:
            return F_NO_BOOLEAN
        a.at += 1
        if c == NULL:
            return F_WHOLE
        if byte:
            c.data[c.rows >> 3] |= <uint8_t> (1 << (c.rows & 7))
        else:
            c.data[c.rows >> 3] &= <uint8_t> ~(1 << (c.rows & 7))
    elif kind == C_NULL:
        if nothing_read(a):
            return F_NOTHING
        if c != NULL:
            t.null(a, c)
            return F_BULKY if a.written > a.most else F_WHOLE
        return F_WHOLE
    elif kind == C_NUMBER:
        fault = column_number(a, c, code)
        if fault or c == NULL:
            return fault
    else:
        fault = bytes_here(a, code[2], &number)
        if fault:
            return fault
        if c != NULL:
            put_span(t, c, a.at, number)
        a.at += number
        return F_WHOLE
    put_row(c)
    return F_WHOLE


cdef int column_number(Avro* a, Column* c, const int32_t* code) noexcept:
    """An integer that becomes another number; there is room."""
    cdef int64_t number = 0
    cdef int fault = number_of(a, code[2], &number)
    if fault or c == NULL:
        return fault
    if code[3] == S_WIDE:
        (<int64_t*> c.data)[c.rows] = number
    elif code[3] == S_MILLIS:
        if number > MOST_SECONDS or number < -MOST_SECONDS:
            return F_RANGE
        (<int64_t*> c.data)[c.rows] = number * 1000
    elif code[3] == S_SINGLE:
        (<float*> c.data)[c.rows] = <float> number
    else:
        (<double*> c.data)[c.rows] = <double> number
    return F_WHOLE


cdef int bytes_here(Avro* a, int32_t size, int64_t* found) noexcept:
    """How many bytes a value of bytes has, all of which are there."""
    if size == -1:
        return length_of(a, found)
    found[0] = a.end - a.at if size < 0 else size
    if found[0] > a.end - a.at:
        return F_CUT
    return F_NOTHING if size == 0 and nothing_read(a) else F_WHOLE


cdef int column_other(Table t, Avro* a, const int32_t* code, int depth) except -1:
    """Names, decimals and what has parts."""
    cdef int32_t kind = code[0], text
    cdef Column* c = t.columns + code[1] if code[1] >= 0 else NULL
    cdef int64_t number = 0
    cdef char[40] shown
    cdef int fault
    if kind == C_RECORD:
        return column_record(t, a, code, c, depth + 1)
    if kind == C_ARRAY or kind == C_MAP:
        return column_blocks(t, a, code, c, depth + 1)
    if kind == C_ENUM:
        fault = index_of(a, code[2], &number)
        if fault:
            return fault
        text = code[3 + number]
        if text < 0:
            return F_REFUSED
        if c != NULL:
            a.written += a.sizes[text]
            if a.written > a.most:
                return F_BULKY
            put_span(t, c, <const uint8_t*> a.texts[text], a.sizes[text])
        return F_WHOLE
    if kind == C_DECIMAL or kind == C_DIGITS:
        return column_decimal(t, a, code, c)
    if kind == C_UUID:
        if a.end - a.at < 16:
            return F_CUT
        put_uuid(shown, a.at)
        a.at += 16
        if c != NULL:
            put_span(t, c, <const uint8_t*> shown + 1, 36)
        return F_WHOLE
    if kind == C_DEFAULT:
        return column_default(t, a, code, depth)
    if kind == C_MEMBER:
        return column_member(t, a, code, c, depth)
    return F_REFUSED


cdef int column_default(Table t, Avro* a, const int32_t* code, int depth) except -1:
    """The value of a field that the writer's schema has not."""
    cdef const uint8_t* at = a.at
    cdef const uint8_t* end = a.end
    cdef int64_t nothing = a.nothing
    cdef int fault
    a.written += a.sizes[code[2]]
    if a.written > a.most:
        return F_BULKY
    a.at = <const uint8_t*> a.texts[code[2]]
    a.end = a.at + a.sizes[code[2]]
    fault = column_value(t, a, code[3], depth)
    a.at, a.end, a.nothing = at, end, nothing
    return fault


cdef int column_member(Table t, Avro* a, const int32_t* code, Column* c, int depth) except -1:
    """One branch of a union that has several, as a struct: the other members are null."""
    cdef int32_t i
    cdef int fault = column_value(t, a, code[2], depth)
    if fault:
        return fault
    for i in range(code[3]):
        t.null(a, t.columns + code[4 + i])
    if a.written > a.most:
        return F_BULKY
    if c.rows == c.room:
        t.reserve(c)
    put_row(c)
    return F_WHOLE


cdef int column_record(Table t, Avro* a, const int32_t* code, Column* c, int depth) except -1:
    cdef const uint8_t* before = a.at
    cdef const int32_t* each = code + 3
    cdef const int32_t* stop = each + code[2]
    cdef int fault
    if depth > DEEPEST:
        return F_DEEP
    while each < stop:
        fault = column_value(t, a, each[0], depth)
        if fault:
            return fault
        each += 1
    if a.at == before and nothing_read(a):
        return F_NOTHING
    if c != NULL:
        if c.rows == c.room:
            t.reserve(c)
        put_row(c)
    return F_WHOLE


cdef int column_blocks(Table t, Avro* a, const int32_t* code, Column* c, int depth) except -1:
    """An array or a map: blocks of items, each with its count, until one of none."""
    cdef int64_t count = 0, size = 0, length = 0, fewest = code[3]
    cdef bint named = code[0] == C_MAP
    cdef int fault
    if depth > DEEPEST:
        return F_DEEP
    while True:
        fault = number_of(a, 64, &count)
        if fault:
            return fault
        if count == 0:
            break
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
            if named:
                fault = length_of(a, &length)
                if fault:
                    return fault
                if c != NULL:
                    fault = put_utf8(t, c + 2, a.at, length)
                if fault:
                    return fault
                a.at += length
            fault = column_value(t, a, code[2], depth)
            if fault:
                return fault
            if named and c != NULL:
                if (c + 1).rows == (c + 1).room:
                    t.reserve(c + 1)
                put_row(c + 1)
            count -= 1
    if c != NULL:
        if c.rows == c.room:
            t.reserve(c)
        (<int32_t*> c.data)[c.rows + 1] = <int32_t> (c + 1).rows
        put_row(c)
    return F_WHOLE


cdef int column_decimal(Table t, Avro* a, const int32_t* code, Column* c) except -1:
    """A big-endian two's complement as 16 bytes in little-endian order, or as text."""
    cdef int64_t size = 0
    cdef const uint8_t* at
    cdef const uint8_t* end
    cdef uint64_t high, low
    cdef bint negative
    cdef bytes text
    cdef int fault = bytes_here(a, code[2], &size)
    if fault:
        return fault
    if size > LONGEST_DECIMAL:
        return F_DIGITS
    at, end = a.at, a.at + size
    a.at = end
    if code[0] == C_DIGITS:
        if c != NULL:
            from kcli.proto.plain.avro_texts import decimal

            text = decimal(PyBytes_FromStringAndSize(<const char*> at, size), code[3])
            put_span(t, c, <const uint8_t*> PyBytes_AS_STRING(text) + 1, PyBytes_GET_SIZE(text) - 2)
        return F_WHOLE
    negative = size > 0 and at[0] > 127
    while end - at > 16:
        if at[0] != (255 if negative else 0) or (at[1] > 127) != negative:
            return F_PRECISION
        at += 1
    high = low = <uint64_t> -1 if negative else 0
    while at < end:
        high = high << 8 | low >> 56
        low = low << 8 | at[0]
        at += 1
    if too_long(high, low, code[3]):
        return F_PRECISION
    if c != NULL:
        if c.rows == c.room:
            t.reserve(c)
        (<uint64_t*> c.data)[2 * c.rows] = low
        (<uint64_t*> c.data)[2 * c.rows + 1] = high
        put_row(c)
    return F_WHOLE


cdef bint too_long(uint64_t high, uint64_t low, int32_t precision) noexcept:
    """Whether a number of 128 bits has more digits than that."""
    if high >> 63:
        low = -low
        high = ~high + (low == 0)
    return high > HIGHS[precision] or (high == HIGHS[precision] and low >= LOWS[precision])


def avro_columns(layout, data, starts, lengths, skips, which, readers):
    """As plain.avro_columns.avro_columns."""
    cdef const uint8_t[::1] view = data
    cdef const int[::1] at = starts, sizes = lengths, skip = skips, reader_of = which
    cdef Py_ssize_t row, rows = at.shape[0], total = view.shape[0]
    cdef int64_t written = 0
    cdef Table t = Table(layout, rows)
    cdef AvroReader reader
    cdef list faults = [], held = list(readers)
    cdef Avro a
    cdef int fault, latest = -1
    for row in range(rows):
        a.written = a.nothing = 0
        if sizes[row] < 0 or reader_of[row] < 0:
            t.null(&a, t.columns)
            continue
        if at[row] < 0 or at[row] > total - sizes[row] or skip[row] < 0:
            raise DecodeError("a field outside its buffer")
        if reader_of[row] != latest:
            latest = reader_of[row]
            reader = held[latest]
            a.code, a.texts, a.sizes = reader.code, reader.texts, reader.sizes
        a.at = &view[0] + at[row] + min(skip[row], sizes[row])
        a.end = &view[0] + at[row] + sizes[row]
        a.most = ROOM + RATIO * (a.end - a.at)
        fault = column_value(t, &a, 0, 0)
        if fault == F_WHOLE and a.at != a.end:
            fault = F_LEFT
        if fault:
            faults.append((row, fault))
            t.cut(t.columns, row)
            t.null(&a, t.columns)
        written += a.written
        if written > MOST:
            raise DecodeError("more than 2 GiB of records at once")
    return t.taken(), faults
