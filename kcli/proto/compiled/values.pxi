# Values and a delimiter, as `consume` writes them.

cdef enum:
    HELD_BRIEFLY = 65536  # bytes of a section that is walked without letting go of the interpreter's lock


cdef struct Ending:
    const char* cutter
    const char* null
    Py_ssize_t cut
    Py_ssize_t nothing


cdef inline int64_t go_on(Header h) noexcept:
    """Where to go on from after a whole window."""
    return min(h.stop, h.last_offset + 1)


cdef inline Ending ending_of(bytes delimiter, bytes null) noexcept:
    return Ending(
        PyBytes_AS_STRING(delimiter), PyBytes_AS_STRING(null), PyBytes_GET_SIZE(delimiter), PyBytes_GET_SIZE(null)
    )


cdef int64_t put_values(Walk* walk, char** out, const Ending* ending, int64_t limit, int64_t* after) noexcept nogil:
    """Write the values of a walk, at most `limit` (-1: all); how many. `after` is the offset delta behind the last one
    where the limit left any, and is not touched otherwise."""
    cdef Row row
    cdef char* to = out[0]
    cdef int64_t written = 0, last = 0
    while next_row(walk, &row):
        if written == limit:
            after[0] = last
            break
        if row.value_length >= 0:
            memcpy(to, row.value, row.value_length)
            to += row.value_length
        else:
            memcpy(to, ending.null, ending.nothing)
            to += ending.nothing
        if ending.cut == 1:
            to[0] = ending.cutter[0]
            to += 1
        else:
            memcpy(to, ending.cutter, ending.cut)
            to += ending.cut
        written += 1
        last = row.delta + 1
    out[0] = to
    return written


def write_values(Header h, bytearray out, bytes delimiter, int64_t limit, bytes null):
    """As plain.values.write_values. No value is longer than its record, so `out` grows once."""
    cdef Opened opened = Opened(h)
    cdef Walk* walk = &opened.walk
    cdef Ending ending = ending_of(delimiter, null)
    cdef Py_ssize_t before = PyByteArray_GET_SIZE(out)
    cdef int64_t written, none = max(h.first, h.base_offset) - h.base_offset, after = -1
    cdef char* to
    PyByteArray_Resize(out, before + most_of(h, &ending))
    to = PyByteArray_AS_STRING(out) + before
    with nogil:
        written = put_values(walk, &to, &ending, limit, &after)
    PyByteArray_Resize(out, before if walk.broken else to - PyByteArray_AS_STRING(out))
    opened.check()
    if after < 0:
        return written, go_on(h)
    return written, h.base_offset + (after if written else none)


def write_many(list batches, bytearray out, bytes delimiter, bytes null):
    """As plain.values.write_many. `out` grows once, and a buffer that many batches lie in is opened once: a batch of
    one record costs little more than its record."""
    cdef Header h
    cdef Walk walk
    cdef Ending ending = ending_of(delimiter, null)
    cdef Py_buffer buffer
    cdef object held = None
    cdef Py_ssize_t done = 0, before = PyByteArray_GET_SIZE(out), room = 0
    cdef int64_t written = 0, some, after
    cdef char* to
    cdef char* good
    cdef char* end
    for h in batches:
        if not readable(h):
            break
        room += most_of(h, &ending)
    PyByteArray_Resize(out, before + room)
    good = to = PyByteArray_AS_STRING(out) + before
    end = to + room
    try:
        for h in batches:
            if not readable(h):
                break
            if held is None or h.data is not held:
                if held is not None:
                    PyBuffer_Release(&buffer)
                    held = None
                PyObject_GetBuffer(h.data, &buffer, PyBUF_SIMPLE)
                held = h.data
            if h.body_end > buffer.len or most_of(h, &ending) > end - to:
                break
            begin(&walk, h, <const uint8_t*> buffer.buf)
            if h.body_end - h.body_start > HELD_BRIEFLY:
                with nogil:
                    some = put_values(&walk, &to, &ending, -1, &after)
            else:
                some = put_values(&walk, &to, &ending, -1, &after)
            if walk.broken:
                break
            written += some
            good = to
            done += 1
    finally:
        if held is not None:
            PyBuffer_Release(&buffer)
        PyByteArray_Resize(out, good - PyByteArray_AS_STRING(out))
    return written, done


cdef inline int64_t most_of(Header h, const Ending* ending) noexcept:
    """Bytes that the values of a readable batch take at most: no value is longer than its record."""
    return (h.body_end - h.body_start) + <int64_t> h.count * (ending.cut + ending.nothing)


cdef inline bint readable(Header h) noexcept:
    """Whether a section can be walked as it is: plain, and long enough for its count."""
    if h.packed and (h.magic != 2 or h.attributes & 7):
        return False
    return 0 <= h.body_start <= h.body_end and 0 <= h.count and <int64_t> h.count * 7 <= h.body_end - h.body_start
