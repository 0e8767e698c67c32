# A batch that grows: records are encoded as they come, the header is written when it is sealed.

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
    """As plain.builder.Builder."""

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
        int64_t max_bytes, int64_t max_records, Py_ssize_t wish, const uint8_t* tail=<const uint8_t*> b"\0",
        int64_t tail_length=1
    ) except -1:
        """A record if it is the first or fits: 1 if it was written, 0 if not. `tail` is its headers with their number in
        front."""
        cdef int64_t elapsed = timestamp - self.base_timestamp if self.count else 0
        cdef int64_t body = self.body_size(elapsed, key_length, value_length) - 1 + tail_length
        cdef int64_t total = body + width(zigzag(body))
        if self.count and (self.used - RESERVED + total > max_bytes or self.count >= max_records):
            return 0
        if self.capacity - self.used < total:
            self.room(total, wish)
        self.stamp(timestamp)
        self.write(body, elapsed, key, key_length, value, value_length)
        memcpy(<uint8_t*> PyByteArray_AS_STRING(self.buffer) + self.used, tail, tail_length)
        self.used += tail_length
        self.count += 1
        return 1

    def append(self, int64_t timestamp_ms, bytes key, bytes value, headers=()):
        """As plain.builder.Builder.append."""
        cdef const uint8_t* key_at = NULL if key is None else <const uint8_t*> PyBytes_AS_STRING(key)
        cdef const uint8_t* value_at = NULL if value is None else <const uint8_t*> PyBytes_AS_STRING(value)
        cdef int64_t key_length = -1 if key is None else PyBytes_GET_SIZE(key)
        cdef int64_t value_length = -1 if value is None else PyBytes_GET_SIZE(value)
        cdef bytes tail
        cdef int64_t elapsed, body
        if not headers:
            self.add(timestamp_ms, key_at, key_length, value_at, value_length, INT64_MAX, INT64_MAX, 0)
            return
        from kcli.proto.plain.headers import encode_headers  # seldom, and not worth C
        tail = encode_headers(headers)
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
        """As plain.builder.Builder.append_lines."""
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
        if max_records - self.count < FEW_LINES:  # else a record of a batch of one would have a megabyte allocated
            wish = min(wish, (max_records - self.count) * USUAL_LINE)
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


cdef class Rows:
    """The rows of a chunk as C sees them; the columns are long enough, what is in them is checked row by row."""

    cdef const uint8_t[::1] view
    cdef const uint8_t* text
    cdef array.array ks, kl, vs, vl, timestamps, hs, hl  # kept, for the pointers
    cdef const int* key_starts
    cdef const int* key_lengths
    cdef const int* value_starts
    cdef const int* value_lengths
    cdef const int* header_starts
    cdef const int* header_lengths
    cdef const int64_t* times
    cdef Py_ssize_t count, size

    def __cinit__(self, chunk, lines, Py_ssize_t first_row, array.array timestamps, tuple headers=None):
        self.view, self.size = chunk, len(chunk)
        self.ks, self.kl, self.vs, self.vl = lines.key_starts, lines.key_lengths, lines.value_starts, lines.value_lengths
        self.count, self.timestamps = len(self.vs), timestamps
        if min(len(self.ks), len(self.kl), len(self.vl)) < self.count or first_row < 0:
            raise ValueError("columns of different lengths")
        if timestamps is not None and (len(timestamps) < self.count or timestamps.typecode != "q"):
            raise ValueError("timestamps are an array('q') with one for each row")
        self.text = &self.view[0] if self.size else NULL
        self.key_starts, self.key_lengths = self.ks.data.as_ints, self.kl.data.as_ints
        self.value_starts, self.value_lengths = self.vs.data.as_ints, self.vl.data.as_ints
        self.header_starts = self.header_lengths = NULL
        if headers is not None:
            self.hs, self.hl = headers
            if min(len(self.hs), len(self.hl)) < self.count or self.hs.typecode != "i" or self.hl.typecode != "i":
                raise ValueError("headers are two array('i') with one place for each row")
            self.header_starts, self.header_lengths = self.hs.data.as_ints, self.hl.data.as_ints
        self.times = NULL if timestamps is None else <const int64_t*> timestamps.data.as_voidptr

    cdef inline int add_to(
        self, Builder builder, Py_ssize_t row, int64_t timestamp_ms, int64_t max_bytes, int64_t max_records, Py_ssize_t wish
    ) except -1:
        """As Builder.add."""
        cdef int64_t k = self.key_starts[row], kn = self.key_lengths[row]
        cdef int64_t v = self.value_starts[row], vn = self.value_lengths[row]
        if k < 0 or v < 0 or kn < -1 or vn < -1 or k + kn > self.size or v + vn > self.size:
            raise ValueError("a row outside its chunk")
        if self.times != NULL:
            timestamp_ms = self.times[row]
        cdef int64_t h, hn
        if self.header_starts != NULL and self.header_lengths[row] > 0:
            h, hn = self.header_starts[row], self.header_lengths[row]
            if h < 0 or h + hn > self.size:
                raise ValueError("a row outside its chunk")
            return builder.add(
                timestamp_ms, self.text + k, kn, self.text + v, vn, max_bytes, max_records, wish, self.text + h, hn
            )
        return builder.add(timestamp_ms, self.text + k, kn, self.text + v, vn, max_bytes, max_records, wish)


def spread_rows(
    list builders, array.array places, chunk, lines, Py_ssize_t first_row, int64_t timestamp_ms, int64_t max_bytes,
    int64_t max_records, array.array timestamps=None, tuple headers=None
):
    """As plain.spread.spread_rows."""
    cdef Rows rows = Rows(chunk, lines, first_row, timestamps, headers)
    cdef Py_ssize_t row, place, last = -1, several = len(builders), used, grown = 0
    cdef Builder builder = None
    if len(places) < rows.count or places.typecode != "i":
        raise ValueError("places are an array('i') with one for each row")
    for row in range(first_row, rows.count):
        place = places.data.as_ints[row]
        if place < 0 or place >= several:
            raise ValueError("a row outside its partitions")
        if place != last:
            builder, last = builders[place], place
            if builder is None:
                return row, grown
        used = builder.used
        if not rows.add_to(builder, row, timestamp_ms, max_bytes, max_records, SPREAD):
            return row, grown
        grown += builder.used - used
    return max(first_row, rows.count), grown
