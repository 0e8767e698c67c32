# kcat's -f: a program of parts, run once per record.

cdef inline char* put_digits(char* to, int64_t number) noexcept nogil:
    if number < 0:
        to[0] = c"-"
        return put_unsigned(to + 1, -<uint64_t> number)
    return put_unsigned(to, <uint64_t> number)


cdef inline char* put_unsigned(char* to, uint64_t left) noexcept nogil:
    cdef char digits[24]
    cdef int at = 24
    while True:
        at -= 1
        digits[at] = <char> (48 + left % 10)
        left //= 10
        if left == 0:
            break
    memcpy(to, digits + at, 24 - at)
    return to + (24 - at)


cdef inline char* put(char* to, const void* data, Py_ssize_t size) noexcept nogil:
    memcpy(to, data, size)
    return to + size


cdef class Output:
    """A bytearray being appended to, with room kept ahead of the writer."""

    cdef bytearray out
    cdef Py_ssize_t before
    cdef char* to
    cdef char* stop

    def __cinit__(self, bytearray out, Py_ssize_t expected):
        self.out = out
        self.before = PyByteArray_GET_SIZE(out)
        PyByteArray_Resize(out, self.before + expected)
        self.to = PyByteArray_AS_STRING(out) + self.before
        self.stop = self.to - self.before + PyByteArray_GET_SIZE(out)

    cdef int room(self, Py_ssize_t size) except -1:
        cdef Py_ssize_t used
        if self.stop - self.to < size:
            used = self.to - PyByteArray_AS_STRING(self.out)
            PyByteArray_Resize(self.out, used + size + used // 2)
            self.to = PyByteArray_AS_STRING(self.out) + used
            self.stop = PyByteArray_AS_STRING(self.out) + PyByteArray_GET_SIZE(self.out)
        return 0

    cdef int close(self, bint keep) except -1:
        return PyByteArray_Resize(self.out, self.to - PyByteArray_AS_STRING(self.out) if keep else self.before)


cdef char* put_headers(char* to, Row* row) noexcept nogil:
    """Headers as kcat shows them; the walk has checked them."""
    cdef const uint8_t* at = row.headers
    cdef int64_t length = 0
    cdef int i
    for i in range(row.header_count):
        if i:
            to = put(to, b",", 1)
        at = field(at, row.end, &length)
        to = put(put(to, at, length), b"=", 1)
        at = field(at + length, row.end, &length)
        if length < 0:
            to = put(to, b"NULL", 4)
        else:
            to = put(to, at, length)
            at += length
    return to


cdef struct Op:
    char token
    const char* text
    Py_ssize_t size


def write_format(Header h, bytearray out, tuple program, bytes topic, int64_t partition, int64_t limit):
    """As plain.format.write_format."""
    cdef Op ops[OPS]
    cdef Op* op
    cdef int i, n = <int> len(program)
    cdef Py_ssize_t fixed = 0
    cdef int values = 0, keys = 0, headers = 0
    if n > OPS:
        from kcli.proto.plain.format import write_format as unbounded
        return unbounded(h, out, program, topic, partition, limit)
    cdef bytes digits = b"%d" % partition
    for i in range(n):
        item = program[i]
        ops[i].token = 0
        if type(item) is bytes:
            text = item
        else:
            token = item[0]
            if token not in TOKENS:
                raise KeyError(token)
            text = topic if token == "t" else digits if token == "p" else None
            if text is None:
                ops[i].token = <char> ord(token)
                values += token == "s"
                keys += token == "k"
                headers += token == "h"
                fixed += 24
        if text is not None:
            ops[i].text, ops[i].size = PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)
            fixed += ops[i].size
    cdef Opened opened = Opened(h)
    cdef Row row
    cdef int64_t written = 0, after = max(h.first, h.base_offset)
    cdef Output o = Output(out, (opened.walk.end - opened.walk.at) + h.count * <Py_ssize_t> (fixed if fixed < 256 else 256))
    cdef char* to
    cdef char token_now
    while next_row(&opened.walk, &row):
        if written == limit:
            break
        o.room(
            fixed
            + values * (row.value_length if row.value_length > 0 else 0)
            + keys * (row.key_length if row.key_length > 0 else 0)
            + headers * ((row.end - row.headers) + 8 * <Py_ssize_t> row.header_count)
        )
        to = o.to
        for i in range(n):
            op = &ops[i]
            token_now = op.token
            if token_now == 0:
                to = put(to, op.text, op.size)
            elif token_now == c"s":
                if row.value_length > 0:
                    to = put(to, row.value, row.value_length)
            elif token_now == c"k":
                if row.key_length > 0:
                    to = put(to, row.key, row.key_length)
            elif token_now == c"o":
                to = put_digits(to, h.base_offset + row.delta)
            elif token_now == c"T":
                to = put_digits(to, row.timestamp)
            elif token_now == c"S":
                to = put_digits(to, row.value_length)
            elif token_now == c"K":
                to = put_digits(to, row.key_length)
            elif token_now == c"R":
                to[0], to[1] = <char> (row.value_length >> 24), <char> (row.value_length >> 16)
                to[2], to[3] = <char> (row.value_length >> 8), <char> row.value_length
                to += 4
            else:
                to = put_headers(to, &row)
        o.to = to
        written += 1
        after = h.base_offset + row.delta + 1
    else:
        after = -1
    o.close(not opened.walk.broken)
    opened.check()
    return written, go_on(h) if after < 0 else after
