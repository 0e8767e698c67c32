# From a response's bytes to batches: framing and CRC checked, bodies opened when somebody wants them.

cdef inline void begin(Walk* walk, Header h, const uint8_t* start) noexcept:
    """Put a walk at the beginning of a section that is inside its buffer."""
    walk.at = start + h.body_start
    walk.end = start + h.body_end
    walk.first = max(h.first - h.base_offset, <int64_t> 0)
    walk.stop = h.stop - h.base_offset
    walk.last = h.last_offset - h.base_offset
    walk.base_timestamp = h.base_timestamp
    walk.fixed_timestamp = h.max_timestamp
    walk.appended = (h.attributes & 8) != 0
    walk.left = h.count
    walk.broken = False


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
        begin(&self.walk, h, self.start)

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
    """As plain.scan.scan."""
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
        h.max_decompressed = 1 << 26
        found.append(h)
        at += 12 + length
    return at, None


def ends(data):
    """As plain.scan.ends."""
    cdef const uint8_t[::1] view = data
    cdef Py_ssize_t at = 0, size = view.shape[0]
    cdef const uint8_t* p
    cdef int64_t length, base, after, following = -1
    cdef int32_t epoch = -1, delta
    while size - at >= 17:
        p = &view[at]
        base, length = <int64_t> big(p, 8), <int32_t> big(p + 8, 4)
        if length < 14 or length + 12 > size - at or not 0 <= base < LAST:
            break
        after = base + 1
        if p[16] >= 2 and p[16] < 128 and length + 12 >= RESERVED:
            delta = <int32_t> big(p + 23, 4)
            after += max(delta, 0)
            epoch = <int32_t> big(p + 12, 4)
        following = max(following, after)
        at += length + 12
    return following, epoch, at


def show(list batches, int64_t position, end, bint control):
    """As plain.scan.show."""
    cdef Header h
    cdef list shown = []
    cdef int64_t start, last = INT64_MAX if end is None else end
    for h in batches:
        if h.last_offset < position:
            continue
        if h.base_offset >= last:
            return shown, last, False
        start, position = position, h.last_offset + 1
        if h.count == 0 or (h.attributes & 32 and not control):
            continue
        h.first = max(start, h.base_offset)
        h.stop = min(position, last)
        shown.append(h)
    return shown, position, True


def shown_records(list batches):
    """As plain.scan.shown_records."""
    cdef Header h
    cdef int64_t first, stop, records = 0
    for h in batches:
        stop = min(h.stop, h.last_offset + 1)
        first = max(h.first, h.base_offset)
        records += min(<int64_t>h.count, stop - first)
    return records


def any_compressed(list batches):
    """As plain.scan.any_compressed."""
    cdef Header h
    for h in batches:
        if h.attributes & 7:
            return True
    return False
