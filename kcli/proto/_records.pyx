# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The compiled record core: the functions of records.py and builder.py, which say what they mean, on C pointers.

Every read is checked against the end of its record: the bytes come from the network. A walk that finds a broken
record ends with NULL, which becomes a DecodeError after `out` was cut back to what it was.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cpython cimport array
from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memmove, memset

import array as arrays

from kcli.errors import DecodeError, EncodeError
from kcli.proto.columns import Columns, Lines, Record

cdef extern from "_crc32c.h" nogil:
    uint32_t kcli_crc32c(uint32_t crc, const uint8_t* data, size_t size)
    int kcli_first(uint64_t marks)

cdef extern from *:
    ctypedef struct AllocType "PyTypeObject":
        object (*tp_alloc)(PyTypeObject*, Py_ssize_t)

NAME = "compiled"

cdef enum:
    RESERVED = 61
    SMALLEST = 49
    OPS = 64

cdef int64_t LARGEST = 2147483647 - 2 * RESERVED
cdef int64_t LAST = INT64_MAX - 4294967295
cdef array.array INTS = arrays.array("i")
cdef array.array LONGS = arrays.array("q")
cdef object NOTHING = ()


cdef object twin():
    """The plain-Python core, for what is seldom or long. Most processes never need it: not imported at the start."""
    from kcli.proto import records
    return records


cdef class Header:
    """As records.Header."""

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


cdef class Opened:
    """A batch's section held as a buffer, and a walk from its beginning."""

    cdef Py_buffer buffer
    cdef Walk walk
    cdef const uint8_t* start
    cdef bint held

    def __cinit__(self, Header h):
        PyObject_GetBuffer(h.data, &self.buffer, PyBUF_SIMPLE)
        self.held = True
        if h.body_start < 0 or h.body_end > self.buffer.len or h.body_start > h.body_end:
            raise DecodeError("a records section outside its buffer")
        if h.count < 0 or <int64_t> h.count * 7 > h.body_end - h.body_start:
            raise DecodeError(f"a count of {h.count} records in {h.body_end - h.body_start} bytes")
        self.start = <const uint8_t*> self.buffer.buf
        self.walk.at = self.start + h.body_start
        self.walk.end = self.start + h.body_end
        self.walk.first = max(h.first - h.base_offset, <int64_t> 0)
        self.walk.stop = h.stop - h.base_offset
        self.walk.last = h.last_offset - h.base_offset
        self.walk.base_timestamp = h.base_timestamp
        self.walk.fixed_timestamp = h.max_timestamp
        self.walk.appended = (h.attributes & 8) != 0
        self.walk.left = h.count
        self.walk.broken = False

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.buffer)

    cdef int check(self) except -1:
        """After a walk. Raises DecodeError if it ended at something broken."""
        if self.walk.broken:
            raise DecodeError(f"a broken record, or bytes after the last, at byte {self.walk.at - self.start}")
        return 0


def crc32c(data, uint32_t crc=0):
    """CRC-32C (Castagnoli)."""
    cdef const uint8_t[::1] view = data
    if view.shape[0] == 0:
        return crc
    return kcli_crc32c(crc, &view[0], view.shape[0])


cdef inline uint64_t big(const uint8_t* at, int size) noexcept nogil:
    cdef uint64_t value = 0
    cdef int i
    for i in range(size):
        value = value << 8 | at[i]
    return value


def scan(data, Py_ssize_t at, bint check_crcs, make, list found):
    """As records.scan."""
    cdef const uint8_t[::1] view = data
    cdef Py_ssize_t size = view.shape[0]
    cdef const uint8_t* p
    cdef int64_t length, base
    cdef int32_t delta, count
    cdef Header h
    while size - at >= 17:
        p = &view[at]
        if p[16] != 2:
            break
        length = <int32_t> big(p + 8, 4)
        if length < SMALLEST:
            return at, f"a batch length of {length}"
        if length + 12 > size - at:
            break
        if check_crcs and kcli_crc32c(0, p + 21, length - 9) != <uint32_t> big(p + 17, 4):
            return at, "its CRC does not match"
        base, delta, count = <int64_t> big(p, 8), <int32_t> big(p + 23, 4), <int32_t> big(p + 57, 4)
        if not 0 <= base < LAST or delta < 0:
            return at, f"offsets from {base} on by {delta}"
        if count < 0 or (p[22] & 7 == 0 and <int64_t> count * 7 > length - SMALLEST):
            return at, f"a count of {count} records in {length - SMALLEST} bytes"
        h = make()
        h.base_offset, h.last_offset, h.first, h.stop = base, base + delta, base, base + delta + 1
        h.leader_epoch, h.magic, h.attributes = <int32_t> big(p + 12, 4), 2, <int> <short> big(p + 21, 2)
        h.base_timestamp, h.max_timestamp = <int64_t> big(p + 27, 8), <int64_t> big(p + 35, 8)
        h.producer_id, h.producer_epoch = <int64_t> big(p + 43, 8), <int> <short> big(p + 51, 2)
        h.base_sequence, h.count, h.size = <int32_t> big(p + 53, 4), count, length + 12
        h.data, h.body_start, h.body_end, h.packed = data, at + RESERVED, at + 12 + length, True
        h.max_decompressed = 1 << 28
        found.append(h)
        at += 12 + length
    return at, None


def ends(data):
    """As records.ends."""
    cdef const uint8_t[::1] view = data
    cdef Py_ssize_t at = 0, size = view.shape[0]
    cdef const uint8_t* p
    cdef int64_t length, base, following = -1
    cdef int32_t epoch = -1, delta
    while size - at >= 17:
        p = &view[at]
        base, length = <int64_t> big(p, 8), <int32_t> big(p + 8, 4)
        if length < 14 or length + 12 > size - at:
            break
        if not 0 <= base < LAST:
            return twin().ends(data)  # no broker's: counted with integers that have no end
        following = base + 1
        if p[16] >= 2 and p[16] < 128 and length + 12 >= RESERVED:
            delta = <int32_t> big(p + 23, 4)
            following += max(delta, 0)
            epoch = <int32_t> big(p + 12, 4)
        at += length + 12
    return following, epoch, at


def show(list batches, int64_t position, end, bint control):
    """As records.show."""
    cdef Header h
    cdef list shown = []
    cdef int64_t following = position, last = INT64_MAX if end is None else end
    for h in batches:
        if h.last_offset < position:
            continue
        if h.base_offset >= last:
            return shown, last, False
        following = h.last_offset + 1
        if h.count == 0 or (h.attributes & 32 and not control):
            continue
        h.first = max(position, h.base_offset)
        h.stop = min(following, last)
        shown.append(h)
    return shown, following, True


def count_visible(Header h):
    """As records.count_visible."""
    cdef Opened opened = Opened(h)
    cdef Row row
    cdef int64_t total = 0
    while next_row(&opened.walk, &row):
        total += 1
    opened.check()
    return total


def read_columns(Header h):
    """As records.read_columns; the columns index the batch's own buffer."""
    cdef Opened opened = Opened(h)
    cdef Row row
    cdef Py_ssize_t n = 0, count = h.count
    cdef array.array offsets = array.clone(LONGS, count, False), timestamps = array.clone(LONGS, count, False)
    cdef array.array keys = array.clone(INTS, count, False), key_lengths = array.clone(INTS, count, False)
    cdef array.array values = array.clone(INTS, count, False), value_lengths = array.clone(INTS, count, False)
    cdef array.array headers = array.clone(INTS, count, False), header_counts = array.clone(INTS, count, False)
    if opened.buffer.len > 2147483647:
        raise DecodeError("a buffer of more than 2 GiB")
    with nogil:
        while next_row(&opened.walk, &row):
            (<int64_t*> offsets.data.as_voidptr)[n] = h.base_offset + row.delta
            (<int64_t*> timestamps.data.as_voidptr)[n] = row.timestamp
            keys.data.as_ints[n] = <int> (row.key - opened.start)
            key_lengths.data.as_ints[n] = <int> row.key_length
            values.data.as_ints[n] = <int> (row.value - opened.start)
            value_lengths.data.as_ints[n] = <int> row.value_length
            headers.data.as_ints[n] = <int> (row.headers - opened.start)
            header_counts.data.as_ints[n] = row.header_count
            n += 1
    opened.check()
    if n != count:
        for column in (offsets, timestamps, keys, key_lengths, values, value_lengths, headers, header_counts):
            array.resize(column, n)
    return Columns(h.data, offsets, timestamps, keys, key_lengths, values, value_lengths, headers, header_counts)


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
    """As records.pick."""
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


cdef list header_list(const uint8_t* at, const uint8_t* end, int64_t count):
    """Headers; raises DecodeError for what is none."""
    cdef list made = []
    cdef int64_t length = 0
    while count > 0:
        at = field(at, end, &length)
        if at == NULL or length < 0:
            raise DecodeError("a broken header")
        name = PyUnicode_DecodeUTF8(<const char*> at, length, "surrogateescape")
        at = field(at + length, end, &length)
        if at == NULL:
            raise DecodeError("a broken header")
        made.append((name, None if length < 0 else PyBytes_FromStringAndSize(<const char*> at, length)))
        if length > 0:
            at += length
        count -= 1
    return made


def read_headers(data, Py_ssize_t at, int64_t count):
    """As records.read_headers."""
    cdef const uint8_t[::1] view = data
    if count <= 0:
        return []
    if not 0 <= at < view.shape[0]:
        raise DecodeError("headers outside their buffer")
    return header_list(&view[at], &view[0] + view.shape[0], count)


cdef inline object bytes_or_none(const uint8_t* at, int64_t length):
    return None if length < 0 else PyBytes_FromStringAndSize(<const char*> at, length)


cdef inline void put_item(object record, Py_ssize_t place, object item):
    Py_INCREF(item)
    PyTuple_SET_ITEM(record, place, item)


cdef class Records:
    """An iterator over a section that was walked before, so that it finds nothing broken."""

    cdef Opened opened
    cdef int64_t base

    def __iter__(self):
        return self

    def __next__(self):
        cdef Row row
        cdef object record
        cdef PyTypeObject* kind = <PyTypeObject*> Record
        if not next_row(&self.opened.walk, &row):
            raise StopIteration
        record = (<AllocType*> kind).tp_alloc(kind, 5)
        put_item(record, 0, self.base + row.delta)
        put_item(record, 1, row.timestamp)
        put_item(record, 2, bytes_or_none(row.key, row.key_length))
        put_item(record, 3, bytes_or_none(row.value, row.value_length))
        put_item(record, 4, header_list(row.headers, row.end, row.header_count) if row.header_count else NOTHING)
        return record


def read_records(Header h):
    """As records.read_records: all is checked at once, each record made when it is asked for."""
    cdef Opened opened = Opened(h)
    cdef Walk begin = opened.walk
    cdef Row row
    cdef Records records = Records.__new__(Records)
    while next_row(&opened.walk, &row):
        pass
    opened.check()
    opened.walk = begin
    records.opened, records.base = opened, h.base_offset
    return records


cdef inline int64_t go_on(Header h) noexcept:
    """Where to go on from after a whole window."""
    return min(h.stop, h.last_offset + 1)


def write_values(Header h, bytearray out, bytes delimiter, int64_t limit, bytes null):
    """As records.write_values. No value is longer than its record, so `out` grows once."""
    cdef Opened opened = Opened(h)
    cdef Walk* walk = &opened.walk
    cdef Row row
    cdef Py_ssize_t before = PyByteArray_GET_SIZE(out), cut = PyBytes_GET_SIZE(delimiter), nothing = PyBytes_GET_SIZE(null)
    cdef const char* cutter = PyBytes_AS_STRING(delimiter)
    cdef const char* nullish = PyBytes_AS_STRING(null)
    cdef int64_t written = 0, after = max(h.first, h.base_offset)
    cdef char* to
    PyByteArray_Resize(out, before + (walk.end - walk.at) + h.count * (cut + nothing))
    to = PyByteArray_AS_STRING(out) + before
    with nogil:
        while next_row(walk, &row):
            if written == limit:
                break
            if row.value_length >= 0:
                memcpy(to, row.value, row.value_length)
                to += row.value_length
            else:
                memcpy(to, nullish, nothing)
                to += nothing
            if cut == 1:
                to[0] = cutter[0]
                to += 1
            else:
                memcpy(to, cutter, cut)
                to += cut
            written += 1
            after = h.base_offset + row.delta + 1
        else:
            after = -1
    PyByteArray_Resize(out, before if walk.broken else to - PyByteArray_AS_STRING(out))
    opened.check()
    return written, go_on(h) if after < 0 else after


def write_many(list batches, bytearray out, bytes delimiter, bytes null):
    """As records.write_many."""
    cdef Header h
    cdef Py_ssize_t done = 0
    cdef int64_t written = 0
    for h in batches:
        if h.packed and (h.magic != 2 or h.attributes & 7):
            break
        try:
            written += write_values(h, out, delimiter, -1, null)[0]
        except DecodeError:
            break
        done += 1
    return written, done


cdef inline char* put_digits(char* to, int64_t number) noexcept nogil:
    cdef char digits[24]
    cdef int at = 24
    cdef uint64_t left = <uint64_t> number
    if number < 0:
        to[0] = c"-"
        to += 1
        left = -left
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
    """As records.write_format."""
    cdef Op ops[OPS]
    cdef Op* op
    cdef int i, n = <int> len(program)
    cdef Py_ssize_t fixed = 0
    cdef int values = 0, keys = 0, headers = 0
    if n > OPS:
        return twin().write_format(h, out, program, topic, partition, limit)
    cdef bytes digits = b"%d" % partition
    for i in range(n):
        item = program[i]
        ops[i].token = 0
        if type(item) is bytes:
            text = item
        else:
            token = item[0]
            if token not in twin().SHOW:
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
    cdef uint32_t word
    to = put(to, b'{"base64":"', 11)
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
    return put(to, b'"}', 2)


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
    """As records.write_json."""
    cdef bytes name = topic.encode()
    cdef bytes head = f'{{"topic":{twin()._text(name)},"partition":{partition},"offset":'.encode()
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


cdef inline uint64_t zigzag(int64_t value) noexcept nogil:
    return (<uint64_t> value << 1) ^ <uint64_t> (value >> 63)


cdef inline int width(uint64_t raw) noexcept nogil:
    cdef int size = 3
    if raw < 128:
        return 1
    if raw < 16384:
        return 2
    raw >>= 21
    while raw:
        raw >>= 7
        size += 1
    return size


cdef inline uint8_t* put_varint(uint8_t* to, uint64_t raw) noexcept nogil:
    if raw < 128:
        to[0] = <uint8_t> raw
        return to + 1
    if raw < 16384:
        to[0], to[1] = <uint8_t> (raw | 128), <uint8_t> (raw >> 7)
        return to + 2
    while raw > 127:
        to[0] = <uint8_t> (raw | 128)
        to += 1
        raw >>= 7
    to[0] = <uint8_t> raw
    return to + 1


cdef class Builder:
    """As builder.Builder."""

    cdef bytearray buffer
    cdef Py_ssize_t used, capacity
    cdef readonly int64_t base_timestamp, max_timestamp
    cdef readonly int64_t count

    def __cinit__(self):
        self.reset()

    cdef void reset(self):
        self.buffer = None
        self.used, self.capacity, self.count = RESERVED, 0, 0
        self.base_timestamp = self.max_timestamp = -1

    @property
    def size(self):
        return self.used - RESERVED

    def take(self):
        """The reserved bytes and the section. The builder is empty afterwards."""
        cdef bytearray taken = self.buffer if self.buffer is not None else bytearray(RESERVED)
        if self.buffer is not None:
            PyByteArray_Resize(taken, self.used)
        self.reset()
        return taken

    cdef int room(self, Py_ssize_t size, Py_ssize_t wish) except -1:
        """Make room for `size` more bytes, `wish` at best."""
        cdef Py_ssize_t wanted
        if self.used - RESERVED + size > LARGEST:
            raise EncodeError(f"a batch of {self.used - RESERVED + size} bytes is more than its length field can say")
        if self.buffer is None:
            self.buffer = bytearray(RESERVED)
            self.capacity = RESERVED
        if self.capacity - self.used < size:
            wanted = max(size, wish, min(self.used, <Py_ssize_t> 1 << 24))
            PyByteArray_Resize(self.buffer, self.used + wanted)
            self.capacity = self.used + wanted
        return 0

    cdef inline void stamp(self, int64_t timestamp) noexcept:
        if self.count == 0:
            self.base_timestamp = self.max_timestamp = timestamp
        elif timestamp > self.max_timestamp:
            self.max_timestamp = timestamp

    cdef inline int64_t body_size(self, int64_t elapsed, int64_t key_length, int64_t value_length) noexcept:
        """The record's length field, without headers."""
        return (
            2
            + width(zigzag(elapsed))
            + width(zigzag(self.count))
            + (width(zigzag(key_length)) + key_length if key_length >= 0 else 1)
            + (width(zigzag(value_length)) + value_length if value_length >= 0 else 1)
        )

    cdef inline void write(
        self, int64_t body, int64_t elapsed, const uint8_t* key, int64_t key_length, const uint8_t* value, int64_t value_length
    ) noexcept:
        """A record without its header count, in room that is there."""
        cdef uint8_t* to = <uint8_t*> PyByteArray_AS_STRING(self.buffer) + self.used
        to = put_varint(to, zigzag(body))
        to[0] = 0
        to = put_varint(put_varint(to + 1, zigzag(elapsed)), zigzag(self.count))
        to = put_varint(to, zigzag(key_length))
        if key_length > 0:
            memcpy(to, key, key_length)
            to += key_length
        to = put_varint(to, zigzag(value_length))
        if value_length > 0:
            memcpy(to, value, value_length)
            to += value_length
        self.used = to - <uint8_t*> PyByteArray_AS_STRING(self.buffer)

    cdef int add(
        self, int64_t timestamp, const uint8_t* key, int64_t key_length, const uint8_t* value, int64_t value_length,
        int64_t max_bytes, int64_t max_records, Py_ssize_t wish
    ) except -1:
        """A record without headers if it is the first or fits: 1 if it was written, 0 if not."""
        cdef int64_t elapsed = timestamp - self.base_timestamp if self.count else 0
        cdef int64_t body = self.body_size(elapsed, key_length, value_length)
        cdef int64_t total = body + width(zigzag(body))
        if self.count and (self.used - RESERVED + total > max_bytes or self.count >= max_records):
            return 0
        if self.capacity - self.used < total:
            self.room(total, wish)
        self.stamp(timestamp)
        self.write(body, elapsed, key, key_length, value, value_length)
        (<uint8_t*> PyByteArray_AS_STRING(self.buffer))[self.used] = 0
        self.used += 1
        self.count += 1
        return 1

    def append(self, int64_t timestamp_ms, bytes key, bytes value, headers=()):
        """As builder.Builder.append."""
        cdef const uint8_t* key_at = NULL if key is None else <const uint8_t*> PyBytes_AS_STRING(key)
        cdef const uint8_t* value_at = NULL if value is None else <const uint8_t*> PyBytes_AS_STRING(value)
        cdef int64_t key_length = -1 if key is None else PyBytes_GET_SIZE(key)
        cdef int64_t value_length = -1 if value is None else PyBytes_GET_SIZE(value)
        cdef bytes tail
        cdef int64_t elapsed, body
        if not headers:
            self.add(timestamp_ms, key_at, key_length, value_at, value_length, INT64_MAX, INT64_MAX, 0)
            return
        tail = twin().encode_headers(headers)
        elapsed = timestamp_ms - self.base_timestamp if self.count else 0
        body = self.body_size(elapsed, key_length, value_length) - 1 + PyBytes_GET_SIZE(tail)
        self.room(body + width(zigzag(body)), 0)
        self.stamp(timestamp_ms)
        self.write(body, elapsed, key_at, key_length, value_at, value_length)
        memcpy(PyByteArray_AS_STRING(self.buffer) + self.used, PyBytes_AS_STRING(tail), PyBytes_GET_SIZE(tail))
        self.used += PyBytes_GET_SIZE(tail)
        self.count += 1

    def append_lines(
        self, chunk, Py_ssize_t start, Py_ssize_t end, int delimiter, int64_t timestamp_ms, int64_t max_bytes,
        int64_t max_records, bint empty_is_null=False
    ):
        """As builder.Builder.append_lines."""
        cdef const uint8_t[::1] view = chunk
        cdef const uint8_t* at
        cdef const uint8_t* stop
        cdef const uint8_t* last
        cdef int64_t length
        if end > view.shape[0]:
            end = view.shape[0]
        if start < 0 or start >= end:
            return start
        at, last = &view[0] + start, &view[0] + end
        cdef Py_ssize_t wish = min(max_bytes - (self.used - RESERVED) + 64, (end - start) + (end - start) // 8 + 64)
        cdef uint64_t elapsed = zigzag(timestamp_ms - self.base_timestamp if self.count else 0), raw
        cdef int64_t count = self.count, body, fixed = 3 + width(elapsed)
        cdef Py_ssize_t used = self.used, capacity = self.capacity, total
        cdef uint8_t* to = NULL if self.buffer is None else <uint8_t*> PyByteArray_AS_STRING(self.buffer)
        max_bytes += RESERVED
        while at < last:
            stop = <const uint8_t*> memchr(at, delimiter, last - at)
            if stop == NULL:
                break
            length = stop - at
            raw = <uint64_t> length << 1
            if empty_is_null and length == 0:
                raw = 1
            body = fixed + width(<uint64_t> count << 1) + width(raw) + length
            total = body + width(<uint64_t> body << 1)
            if count and (used + total > max_bytes or count >= max_records):
                break
            if capacity - used < total:
                self.used, self.count = used, count
                self.room(total, wish)
                capacity = self.capacity
                to = <uint8_t*> PyByteArray_AS_STRING(self.buffer)
            if count == self.count:  # the first, or after making room
                self.stamp(timestamp_ms)
            to += used
            to = put_varint(to, <uint64_t> body << 1)
            to[0] = 0
            to = put_varint(put_varint(to + 1, elapsed), <uint64_t> count << 1)
            to[0] = 1
            to = put_varint(to + 1, raw)
            memcpy(to, at, length)
            to[length] = 0
            used += total
            to += length + 1 - used
            count += 1
            at = stop + 1
        self.used, self.count = used, count
        return at - &view[0]

    def append_rows(
        self, chunk, lines, Py_ssize_t first_row, array.array partitions, int wanted, int64_t timestamp_ms,
        int64_t max_bytes, int64_t max_records, array.array timestamps=None
    ):
        """As builder.Builder.append_rows."""
        cdef const uint8_t[::1] view = chunk
        cdef array.array ks = lines.key_starts, kl = lines.key_lengths, vs = lines.value_starts, vl = lines.value_lengths
        cdef Py_ssize_t row, rows = len(vs), size = view.shape[0]
        cdef const uint8_t* text = &view[0] if size else NULL
        cdef int64_t k, kn, v, vn
        cdef Py_ssize_t wish = min(max_bytes - (self.used - RESERVED) + 64, size // (1 if partitions is None else 4) + 64)
        if min(len(ks), len(kl), len(vl), rows if partitions is None else len(partitions)) < rows or first_row < 0:
            raise ValueError("columns of different lengths")
        if timestamps is not None and (len(timestamps) < rows or timestamps.typecode != "q"):
            raise ValueError("timestamps are an array('q') with one for each row")
        for row in range(first_row, rows):
            if partitions is not None and partitions.data.as_ints[row] != wanted:
                continue
            k, kn, v, vn = ks.data.as_ints[row], kl.data.as_ints[row], vs.data.as_ints[row], vl.data.as_ints[row]
            if k < 0 or v < 0 or kn < -1 or vn < -1 or k + kn > size or v + vn > size:
                raise ValueError("a row outside its chunk")
            if timestamps is not None:
                timestamp_ms = (<int64_t*> timestamps.data.as_voidptr)[row]
            if not self.add(timestamp_ms, text + k, kn, text + v, vn, max_bytes, max_records, wish):
                return row
        return max(first_row, rows)


def split_lines(chunk, Py_ssize_t start, Py_ssize_t end, int delimiter, bytes key_delimiter, bint empty_is_null=False):
    """As builder.split_lines."""
    cdef const uint8_t[::1] view = chunk
    cdef Py_ssize_t count = 0, room = 0, cut = 0 if key_delimiter is None else PyBytes_GET_SIZE(key_delimiter)
    cdef const uint8_t* cutter = NULL if cut == 0 else <const uint8_t*> PyBytes_AS_STRING(key_delimiter)
    cdef const uint8_t* text
    cdef const uint8_t* at
    cdef const uint8_t* stop
    cdef const uint8_t* last
    cdef const uint8_t* split
    cdef array.array ks, kl, vs, vl
    if end > view.shape[0]:
        end = view.shape[0]
    if end > 2147483647:
        raise ValueError("a chunk of more than 2 GiB")
    if start < 0 or start >= end:
        return Lines(*[arrays.array("i") for _ in range(4)], start)
    text = &view[0]
    at, last = text + start, text + end
    room = (end - start) // 64 + 16
    ks, kl = array.clone(INTS, room, False), array.clone(INTS, room, False)
    vs, vl = array.clone(INTS, room, False), array.clone(INTS, room, False)
    while at < last:
        stop = <const uint8_t*> memchr(at, delimiter, last - at)
        if stop == NULL:
            break
        if count == room:
            room *= 2
            for column in (ks, kl, vs, vl):
                array.resize(column, room)
        ks.data.as_ints[count] = <int> (at - text)
        kl.data.as_ints[count] = -1
        split = find(at, stop, cutter, cut) if cut else NULL
        if split != NULL:
            if split > at or not empty_is_null:
                kl.data.as_ints[count] = <int> (split - at)
            at = split + cut
        vs.data.as_ints[count] = <int> (at - text)
        vl.data.as_ints[count] = -1 if stop == at and empty_is_null else <int> (stop - at)
        count += 1
        at = stop + 1
    for column in (ks, kl, vs, vl):
        array.resize(column, count)
    return Lines(ks, kl, vs, vl, at - text)


cdef inline const uint8_t* find(const uint8_t* at, const uint8_t* end, const uint8_t* what, Py_ssize_t size) noexcept nogil:
    """Where `what` first stands in [at, end), or NULL."""
    cdef Py_ssize_t i
    while end - at >= size:
        at = <const uint8_t*> memchr(at, what[0], end - at - size + 1)
        if at == NULL:
            return NULL
        for i in range(1, size):
            if at[i] != what[i]:
                break
        else:
            return at
        at += 1
    return NULL


cdef uint32_t hash_of(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    cdef uint32_t mix = 0x5BD1E995, hashed = 0x9747B28CU ^ <uint32_t> size, k
    while size >= 4:
        k = (<uint32_t> at[0] | <uint32_t> at[1] << 8 | <uint32_t> at[2] << 16 | <uint32_t> at[3] << 24) * mix
        k ^= k >> 24
        hashed = (hashed * mix) ^ (k * mix)
        at += 4
        size -= 4
    if size == 3:
        hashed ^= <uint32_t> at[2] << 16
    if size >= 2:
        hashed ^= <uint32_t> at[1] << 8
    if size >= 1:
        hashed = (hashed ^ at[0]) * mix
    hashed = (hashed ^ hashed >> 13) * mix
    return hashed ^ hashed >> 15


def murmur2(data):
    """As murmur2.murmur2."""
    cdef const uint8_t[::1] view = data
    return hash_of(&view[0] if view.shape[0] else NULL, view.shape[0])


def partition_of(key, int partition_count):
    """As murmur2.partition_of."""
    if partition_count < 1:
        raise ValueError("a topic has at least one partition")
    return (murmur2(key) & 0x7FFFFFFF) % partition_count


def partition_keys(chunk, lines, int partition_count):
    """As builder.partition_keys."""
    cdef const uint8_t[::1] view = chunk
    cdef array.array ks = lines.key_starts, kl = lines.key_lengths
    cdef Py_ssize_t row, rows = len(ks), size = view.shape[0]
    cdef array.array made = array.clone(INTS, rows, False)
    cdef int64_t k, n
    if partition_count < 1:
        raise ValueError("a topic has at least one partition")
    if len(kl) != rows:
        raise ValueError("columns of different lengths")
    for row in range(rows):
        k, n = ks.data.as_ints[row], kl.data.as_ints[row]
        if k < 0 or n < -1 or k + n > size:
            raise ValueError("a row outside its chunk")
        made.data.as_ints[row] = -1
        if n >= 0:
            made.data.as_ints[row] = <int> ((hash_of(&view[0] + k, n) & 0x7FFFFFFF) % <uint32_t> partition_count)
    return made
