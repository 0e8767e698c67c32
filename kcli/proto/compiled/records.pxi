# Records as columns, and as objects for who wants those.

def count_visible(Header h):
    """As plain.records.count_visible."""
    cdef Opened opened = Opened(h)
    cdef Row row
    cdef int64_t total = 0
    while next_row(&opened.walk, &row):
        total += 1
    opened.check()
    return total


def timed(Header h, int64_t start, int64_t stop):
    """As plain.records.timed."""
    cdef Opened opened = Opened(h)
    cdef Row row
    cdef Py_ssize_t n = 0
    cdef array.array offsets = array.clone(LONGS, h.count, False)
    with nogil:
        while next_row(&opened.walk, &row):
            if start <= row.timestamp < stop:
                (<int64_t*> offsets.data.as_voidptr)[n] = h.base_offset + row.delta
                n += 1
    opened.check()
    array.resize(offsets, n)
    return offsets


def read_columns(Header h):
    """As plain.records.read_columns; the columns index the batch's own buffer."""
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
    """As plain.walk.read_headers."""
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
    """As plain.records.read_records: all is checked at once, each record made when it is asked for."""
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


cdef class Messages:
    """As plain.messages.Messages."""

    cdef object more, kind, timestamp_type, leader_epoch
    cdef Opened opened
    cdef int64_t base
    cdef readonly str topic
    cdef readonly object partition
    cdef readonly int64_t after

    def __init__(self, more):
        self.more, self.kind = more, Message
        self.topic, self.partition, self.after = "", -1, -1
        self.timestamp_type, self.leader_epoch = "create", -1

    def open(self, Header h, str topic not None, partition):
        """As plain.messages.Messages.open."""
        self.drop()
        cdef Opened opened = Opened(h)
        cdef Walk begin = opened.walk
        cdef Row row
        while next_row(&opened.walk, &row):
            pass
        opened.check()
        opened.walk = begin
        self.opened, self.base, self.topic, self.partition = opened, h.base_offset, topic, partition
        self.timestamp_type, self.leader_epoch = "append" if h.attributes & 8 else "create", h.leader_epoch

    def drop(self):
        """As plain.messages.Messages.drop."""
        self.opened, self.after = None, -1

    def left(self):
        """As plain.messages.Messages.left."""
        cdef Row row
        cdef Walk ahead
        if self.opened is None:
            return False
        ahead = self.opened.walk
        return next_row(&ahead, &row)

    def __iter__(self):
        return self

    def __next__(self):
        cdef Row row
        cdef object message
        cdef PyTypeObject* kind
        cdef Opened opened = self.opened
        while opened is None or not next_row(&opened.walk, &row):
            self.opened = None
            self.more()
            opened = self.opened
        cdef object topic = self.topic, partition = self.partition
        cdef int64_t offset = self.base + row.delta
        self.after = offset + 1
        kind = <PyTypeObject*> self.kind
        message = (<AllocType*> kind).tp_alloc(kind, 9)
        put_item(message, 0, topic)
        put_item(message, 1, partition)
        put_item(message, 2, offset)
        put_item(message, 3, row.timestamp)
        put_item(message, 4, bytes_or_none(row.key, row.key_length))
        put_item(message, 5, bytes_or_none(row.value, row.value_length))
        put_item(message, 6, header_list(row.headers, row.end, row.header_count) if row.header_count else NOTHING)
        put_item(message, 7, self.timestamp_type)
        put_item(message, 8, self.leader_epoch)
        return message


def contains(Header h, bytes text):
    """As plain.records.contains."""
    cdef Opened opened = Opened(h)
    cdef const uint8_t* what = <const uint8_t*> PyBytes_AS_STRING(text)
    cdef size_t length = PyBytes_GET_SIZE(text)
    cdef bint found
    if length == 0:
        return True
    with nogil:
        found = kcli_has(opened.walk.at, opened.walk.end - opened.walk.at, what, length)
    return found
