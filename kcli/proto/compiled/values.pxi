# Values and a delimiter, as `consume` writes them.

cdef inline int64_t go_on(Header h) noexcept:
    """Where to go on from after a whole window."""
    return min(h.stop, h.last_offset + 1)


def write_values(Header h, bytearray out, bytes delimiter, int64_t limit, bytes null):
    """As plain.values.write_values. No value is longer than its record, so `out` grows once."""
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
    """As plain.values.write_many."""
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
