# Lines of a chunk, and which partition each key belongs to.

def split_lines(chunk, Py_ssize_t start, Py_ssize_t end, int delimiter, bytes key_delimiter, bint empty_is_null=False):
    """As plain.lines.split_lines."""
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


def unkeyed(chunk, Py_ssize_t start, Py_ssize_t end, int delimiter, bytes key_delimiter not None):
    """As plain.lines.unkeyed."""
    cdef const uint8_t[::1] view = chunk
    cdef Py_ssize_t cut = PyBytes_GET_SIZE(key_delimiter)
    cdef const uint8_t* cutter = <const uint8_t*> PyBytes_AS_STRING(key_delimiter)
    cdef const uint8_t* at
    cdef const uint8_t* stop
    cdef const uint8_t* last
    if not 0 <= start < end or end > view.shape[0]:
        return end
    at, last = &view[0] + start, &view[0] + end
    with nogil:
        while at < last:
            stop = <const uint8_t*> memchr(at, delimiter, last - at)
            if stop == NULL:
                at = last
                break
            if find(at, stop, cutter, cut) == NULL:
                break
            at = stop + 1
    return end if at >= last else at - &view[0]


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
    """As plain.lines.partition_keys."""
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
