# The records of a batch with other keys or values; as plain/replace.py.

cdef class Cell:
    """A column of Spans, read from its first row on."""

    cdef const uint8_t[::1] data, valid
    cdef const int32_t* ends
    cdef object held
    cdef Py_ssize_t row, rows
    cdef bint nullable

    def __cinit__(self, column):
        cdef const uint8_t[::1] ends = column.ends
        cdef Py_ssize_t row
        self.rows, self.held = column.rows, column.ends
        self.data = column.data
        self.nullable = column.valid is not None
        if ends.shape[0] < 4 * (self.rows + 1) or (self.nullable and len(column.valid) < (self.rows + 7) // 8):
            raise ValueError("a column that is shorter than its rows")
        if self.nullable:
            self.valid = column.valid
        self.ends = <const int32_t*> &ends[0]
        for row in range(self.rows):
            if not 0 <= self.ends[row] <= self.ends[row + 1]:
                raise ValueError("a column whose rows overlap")
        if self.ends[self.rows] > self.data.shape[0]:
            raise ValueError("a column that is shorter than its rows")

    cdef const uint8_t* next(self, int64_t* length) noexcept:
        cdef Py_ssize_t row = self.row
        self.row += 1
        if self.nullable and not self.valid[row >> 3] >> (row & 7) & 1:
            length[0] = -1
            return NULL
        length[0] = self.ends[row + 1] - self.ends[row]
        return &self.data[0] + self.ends[row] if length[0] else NULL


cdef inline uint8_t* put_cell(uint8_t* to, const uint8_t* at, int64_t length) noexcept nogil:
    to = put_varint(to, zigzag(length))
    if length > 0:
        memcpy(to, at, length)
        to += length
    return to


def replace_fields(Header h, keys, values):
    """As plain.replace.replace_fields."""
    cdef Opened opened = Opened(h)
    cdef Cell new_keys = None if keys is None else Cell(keys), new_values = None if values is None else Cell(values)
    cdef Row row
    cdef bytearray out = bytearray()
    cdef Output o = Output(out, opened.walk.end - opened.walk.at)
    cdef int64_t elapsed, size, rest, made = 0
    cdef uint8_t* to
    cdef int64_t total = count_visible(h)
    if (keys is not None and new_keys.rows != total) or (values is not None and new_values.rows != total):
        raise ValueError(f"other rows than {total} records")
    while next_row(&opened.walk, &row):
        if keys is not None:
            row.key = new_keys.next(&row.key_length)
        if values is not None:
            row.value = new_values.next(&row.value_length)
        elapsed = 0 if opened.walk.appended else row.timestamp - opened.walk.base_timestamp
        rest = row.end - row.headers
        size = 1 + width(zigzag(elapsed)) + width(zigzag(row.delta)) + width(zigzag(row.header_count)) + rest
        size += width(zigzag(row.key_length)) + max(row.key_length, <int64_t> 0)
        size += width(zigzag(row.value_length)) + max(row.value_length, <int64_t> 0)
        o.room(size + 10)
        to = put_varint(<uint8_t*> o.to, zigzag(size))
        to[0] = 0
        to = put_varint(put_varint(to + 1, zigzag(elapsed)), zigzag(row.delta))
        to = put_cell(put_cell(to, row.key, row.key_length), row.value, row.value_length)
        to = put_varint(to, zigzag(row.header_count))
        memcpy(to, row.headers, rest)
        o.to = <char*> to + rest
        made += 1
    o.close(not opened.walk.broken)
    opened.check()
    return bytes(out), made
