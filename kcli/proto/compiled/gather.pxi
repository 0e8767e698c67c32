# Whole batches as Arrow's buffers: one call per batch, no object per record.

cdef class Cells:
    """A binary column that grows: as columns.Spans."""

    cdef bytearray valid, ends, data
    cdef Py_ssize_t rows, room, used, space, nulls
    cdef uint8_t* valid_at
    cdef int32_t* ends_at
    cdef uint8_t* data_at

    def __cinit__(self):
        self.reset()

    cdef void reset(self):
        self.valid, self.ends, self.data = bytearray(), bytearray(4), bytearray()
        self.rows = self.room = self.used = self.space = self.nulls = 0

    cdef int reserve(self, Py_ssize_t rows, Py_ssize_t size) except -1:
        """Room for so many rows and bytes more."""
        cdef Py_ssize_t bits, wanted
        if self.used + size > 2147483647:
            raise DecodeError("more than 2 GiB of records at once")
        if self.room - self.rows < rows:
            self.room = self.rows + max(rows, self.rows, <Py_ssize_t> 1024)
            PyByteArray_Resize(self.ends, 4 * (self.room + 1))
            bits, wanted = PyByteArray_GET_SIZE(self.valid), (self.room + 7) // 8
            PyByteArray_Resize(self.valid, wanted)
            memset(PyByteArray_AS_STRING(self.valid) + bits, 0, wanted - bits)
        if self.space - self.used < size:
            self.space = self.used + max(size, min(self.used, <Py_ssize_t> 1 << 26))
            PyByteArray_Resize(self.data, self.space)
        self.valid_at = <uint8_t*> PyByteArray_AS_STRING(self.valid)
        self.ends_at = <int32_t*> PyByteArray_AS_STRING(self.ends)
        self.data_at = <uint8_t*> PyByteArray_AS_STRING(self.data)
        return 0

    cdef inline void put(self, const uint8_t* at, int64_t length) noexcept nogil:
        """One cell, in room that is there."""
        if length < 0:
            self.nulls += 1
        else:
            self.valid_at[self.rows >> 3] |= <uint8_t> (1 << (self.rows & 7))
            memcpy(self.data_at + self.used, at, length)
            self.used += length
        self.rows += 1
        self.ends_at[self.rows] = <int32_t> self.used

    cdef void cut(self, Py_ssize_t rows, Py_ssize_t used, Py_ssize_t nulls) noexcept:
        """Back to what it was."""
        cdef Py_ssize_t row
        for row in range(rows, self.rows):
            self.valid_at[row >> 3] &= <uint8_t> ~(1 << (row & 7))
        self.rows, self.used, self.nulls = rows, used, nulls

    cdef object take(self):
        from kcli.proto.spans import Spans

        PyByteArray_Resize(self.ends, 4 * (self.rows + 1))
        made = Spans(self.rows, self.nulls, self.valid if self.nulls else None, self.ends, self.data)
        self.reset()
        return made


cdef class Gather:
    """As gather.Gather."""

    cdef bytearray offsets, timestamps, kinds, header_ends
    cdef Cells keys, values, names, contents
    cdef Py_ssize_t room
    cdef readonly Py_ssize_t rows

    def __cinit__(self, bint keys=True, bint values=True, bint headers=False):
        self.keys = Cells() if keys else None
        self.values = Cells() if values else None
        self.names = Cells() if headers else None
        self.contents = Cells() if headers else None
        self.reset()

    cdef void reset(self):
        self.offsets, self.timestamps, self.kinds, self.header_ends = bytearray(), bytearray(), bytearray(), bytearray(4)
        self.room = self.rows = 0

    @property
    def size(self):
        cdef Py_ssize_t total = 0
        for cells in (self.keys, self.values, self.names, self.contents):
            if cells is not None:
                total += (<Cells> cells).used
        return total

    cdef int reserve(self, Py_ssize_t rows) except -1:
        if self.room - self.rows < rows:
            self.room = self.rows + max(rows, self.rows, <Py_ssize_t> 1024)
            PyByteArray_Resize(self.offsets, 8 * self.room)
            PyByteArray_Resize(self.timestamps, 8 * self.room)
            PyByteArray_Resize(self.kinds, 4 * self.room)
            if self.names is not None:
                PyByteArray_Resize(self.header_ends, 4 * (self.room + 1))
        return 0

    def add(self, Header h):
        """As gather.Gather.add."""
        cdef Opened opened = Opened(h)
        cdef Py_ssize_t before = self.rows, size = h.body_end - h.body_start, total = 0
        cdef int32_t kind = -1 if h.magic == 0 else 1 if h.attributes & 8 else 0
        cdef Cells keys = self.keys, values = self.values, names = self.names, contents = self.contents
        cdef bint with_keys = keys is not None, with_values = values is not None, with_headers = names is not None
        cdef list marks = [
            None if cells is None else ((<Cells> cells).rows, (<Cells> cells).used, (<Cells> cells).nulls)
            for cells in (keys, values, names, contents)
        ]
        cdef Row row
        self.reserve(h.count)
        if with_keys:
            keys.reserve(h.count, size)
        if with_values:
            values.reserve(h.count, size)
        if with_headers:
            total = self.count_headers(h)
            names.reserve(total, size)
            contents.reserve(total, size)
        cdef int64_t* offsets = <int64_t*> PyByteArray_AS_STRING(self.offsets)
        cdef int64_t* timestamps = <int64_t*> PyByteArray_AS_STRING(self.timestamps)
        cdef int32_t* kinds = <int32_t*> PyByteArray_AS_STRING(self.kinds)
        cdef int32_t* ends = <int32_t*> PyByteArray_AS_STRING(self.header_ends)
        with nogil:
            while next_row(&opened.walk, &row):
                offsets[self.rows] = h.base_offset + row.delta
                timestamps[self.rows] = row.timestamp
                kinds[self.rows] = kind
                if with_keys:
                    keys.put(row.key, row.key_length)
                if with_values:
                    values.put(row.value, row.value_length)
                self.rows += 1
                if with_headers:
                    if row.header_count:
                        gather_headers(names, contents, &row)
                    ends[self.rows] = <int32_t> names.rows
        if opened.walk.broken:
            self.rows = before
            for cells, mark in zip((keys, values, names, contents), marks):
                if cells is not None:
                    (<Cells> cells).cut(mark[0], mark[1], mark[2])
            opened.check()
        return self.rows - before

    cdef Py_ssize_t count_headers(self, Header h) except -1:
        cdef Opened opened = Opened(h)
        cdef Row row
        cdef Py_ssize_t total = 0
        with nogil:
            while next_row(&opened.walk, &row):
                total += row.header_count
        opened.check()
        return total

    def take(self):
        """As gather.Gather.take."""
        from kcli.proto.spans import Gathered

        PyByteArray_Resize(self.offsets, 8 * self.rows)
        PyByteArray_Resize(self.timestamps, 8 * self.rows)
        PyByteArray_Resize(self.kinds, 4 * self.rows)
        if self.names is not None:
            PyByteArray_Resize(self.header_ends, 4 * (self.rows + 1))
        made = Gathered(
            self.rows, self.offsets, self.timestamps, self.kinds,
            None if self.keys is None else self.keys.take(),
            None if self.values is None else self.values.take(),
            None if self.names is None else self.header_ends,
            None if self.names is None else self.names.take(),
            None if self.contents is None else self.contents.take(),
        )
        self.reset()
        return made


cdef void gather_headers(Cells names, Cells contents, Row* row) noexcept nogil:
    """The headers of a record, which a walk has seen to be whole."""
    cdef const uint8_t* at = row.headers
    cdef int64_t length = 0
    cdef int32_t left = row.header_count
    while left > 0:
        at = field(at, row.end, &length)
        names.put(at, length)
        at = field(at + length, row.end, &length)
        contents.put(at, length)
        if length > 0:
            at += length
        left -= 1


def pick(Header h, offsets):
    """As plain.records.pick."""
    cdef Opened opened = Opened(h)
    cdef const int64_t[::1] wanted = offsets
    cdef Row row
    cdef Py_ssize_t n = 0, count = wanted.shape[0]
    cdef const uint8_t* start = opened.walk.at
    cdef const uint8_t* run = NULL
    cdef bytearray out = bytearray()
    opened.walk.first, opened.walk.stop = 0, INT64_MAX  # every record, so that each starts where the last one ended
    while n < count and next_row(&opened.walk, &row):
        if row.delta == wanted[n] - h.base_offset:
            n += 1
            if run == NULL:
                run = start
        elif run != NULL:
            out += (<const char*> run)[:start - run]
            run = NULL
        start = row.end
    if opened.walk.broken:
        opened.check()
    if run != NULL:
        out += (<const char*> run)[:start - run]
    return bytes(out), n
