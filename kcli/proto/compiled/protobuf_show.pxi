# A tree of Protobuf as JSON, by the mapping of proto3; as plain/protobuf_show.py and plain/protobuf_known.py.

cdef enum:
    K_NONE, K_TIMESTAMP, K_DURATION, K_FIELD_MASK, K_WRAPPER, K_STRUCT, K_LIST, K_VALUE, K_ANY

cdef enum:
    NOT_ITS_OWN = -2  # in place of a fault: nothing was written

cdef int64_t FIRST_SECOND = -62135596800
cdef int64_t LAST_SECOND = 253402300799
cdef int64_t LONGEST_DURATION = 315576000000


cdef int by_number(const void* one, const void* other) noexcept nogil:
    cdef int64_t first = (<const int64_t*> one)[0], second = (<const int64_t*> other)[0]
    return (first > second) - (first < second)


cdef inline int too_large(ProtobufReader p, Output o) noexcept:
    return F_LARGE if o.to - PyByteArray_AS_STRING(o.out) - p.out_begin > p.most else F_WHOLE


cdef inline int put_part(ProtobufReader p, Output o, const char* part, Py_ssize_t size) except -1:
    if o.stop - o.to < size:
        o.room(size)
    o.to = put(o.to, part, size)
    return too_large(p, o)


cdef int32_t in_order(ProtobufReader p, int32_t owner) except? -1:
    """The fields of a message: of each the first node, by their numbers (`peer`), with all that were written of it: the
    last value, all values, or messages merged. Of a oneof the last one counts. -1 for none."""
    cdef const int32_t* code = p.code
    cdef Node* nodes = p.nodes
    cdef int32_t node = nodes[owner].first, following, place, slot, oneof, head, first = -1, last = -1, latest = 0
    cdef bint sorted = True
    p.messages += 1
    while node >= 0:
        following, place = nodes[node].next, nodes[node].place
        slot, oneof = code[place + 6], code[place + 5]
        if oneof >= 0:
            oneof += code[1]
            if p.seen[oneof] == p.messages and p.heads[oneof] != slot:
                p.heads[p.heads[oneof]] = -1
                sorted = False  # what it was is taken out
            p.seen[oneof], p.heads[oneof] = p.messages, slot
        head = p.heads[slot] if p.seen[slot] == p.messages else -1
        if head >= 0:
            join_node(p, head, node, code[place + 2] & P_REPEATED)
        else:
            p.seen[slot], p.heads[slot] = p.messages, node
            nodes[node].next, nodes[node].tail, nodes[node].peer = -1, node, -1
            if last < 0:
                first = node
            else:
                nodes[last].peer = node
                sorted = sorted and code[place] > latest
            last, latest = node, code[place]
        node = following
    return first if sorted else put_in_order(p, first)


cdef void join_node(ProtobufReader p, int32_t head, int32_t node, bint repeated) noexcept:
    """A field that comes again."""
    cdef Node* nodes = p.nodes
    if repeated:
        nodes[nodes[head].tail].next = node
        nodes[head].tail, nodes[node].next = node, -1
        return
    nodes[head].value, nodes[head].size = nodes[node].value, nodes[node].size
    if nodes[node].first >= 0:
        if nodes[head].last < 0:
            nodes[head].first = nodes[node].first
        else:
            nodes[nodes[head].last].next = nodes[node].first
        nodes[head].last = nodes[node].last


cdef int32_t put_in_order(ProtobufReader p, int32_t node) except? -1:
    """The fields from this node on, without what a oneof no longer has, by their numbers."""
    cdef Node* nodes = p.nodes
    cdef array.array made = array.clone(LONGS, 0, False)
    cdef int64_t* keys
    cdef Py_ssize_t count = 0, i
    cdef int32_t first = node
    while node >= 0:
        count += p.heads[p.code[nodes[node].place + 6]] == node
        node = nodes[node].peer
    array.resize(made, count)
    keys, count = <int64_t*> made.data.as_voidptr, 0
    node = first
    while node >= 0:
        if p.heads[p.code[nodes[node].place + 6]] == node:
            keys[count] = <int64_t> p.code[nodes[node].place] << 32 | node
            count += 1
        node = nodes[node].peer
    qsort(keys, count, sizeof(int64_t), by_number)
    for i in range(count):
        nodes[<int32_t> keys[i]].peer = <int32_t> keys[i + 1] if i + 1 < count else -1
    return <int32_t> keys[0] if count else -1


cdef int show_message(ProtobufReader p, Output o, int32_t node, int32_t message, int depth) except -1:
    cdef int32_t first, known = p.code[p.code[P_MESSAGES + message]]
    cdef int fault
    if depth > NESTED_MOST:
        return F_NESTED
    first = in_order(p, node)
    if known:
        fault = show_known(p, o, first, message, known, depth)
        if fault != NOT_ITS_OWN:
            return fault
    fault = put_part(p, o, b"{", 1)
    if fault == F_WHOLE:
        fault = show_fields(p, o, first, False, depth)
    return fault if fault else put_part(p, o, b"}", 1)


cdef int show_fields(ProtobufReader p, Output o, int32_t node, bint parted, int depth) except -1:
    """The fields of a message, from the first node on; `parted` where something is before them."""
    cdef int32_t place, peer
    cdef int32_t flags
    cdef int fault
    while node >= 0:
        place, peer = p.nodes[node].place, p.nodes[node].peer
        flags = p.code[place + 2]
        if flags & (P_REPEATED | P_PRESENCE) or not is_zero(p, node):
            o.room(p.sizes[p.code[place + 3]] + 1)
            if parted:
                o.to[0] = c","
                o.to += 1
            parted = True
            fault = put_part(p, o, p.texts[p.code[place + 3]], p.sizes[p.code[place + 3]])
            if fault == F_WHOLE:
                fault = show_held(p, o, node, depth)
            if fault:
                return fault
        node = peer
    return F_WHOLE


cdef inline bint is_zero(ProtobufReader p, int32_t node) noexcept:
    cdef int32_t kind = p.code[p.nodes[node].place + 1]
    return p.nodes[node].size == 0 if kind == P_STRING or kind == P_BYTES else p.nodes[node].value == 0


cdef int show_held(ProtobufReader p, Output o, int32_t node, int depth) except -1:
    """All that a field holds."""
    cdef int32_t flags = p.code[p.nodes[node].place + 2]
    if flags & P_MAP:
        return show_map(p, o, node, depth)
    return show_list(p, o, node, depth) if flags & P_REPEATED else show_value(p, o, node, depth)


cdef int show_value(ProtobufReader p, Output o, int32_t node, int depth) except -1:
    cdef int32_t place = p.nodes[node].place
    if p.code[place + 1] == P_MESSAGE or p.code[place + 1] == P_GROUP:
        return show_message(p, o, node, p.code[place + 4], depth + 1)
    return show_scalar(p, o, &p.code[place], p.nodes[node].value, p.nodes[node].size)


cdef int show_list(ProtobufReader p, Output o, int32_t node, int depth) except -1:
    cdef int32_t next
    cdef bint parted = False
    cdef int fault = put_part(p, o, b"[", 1)
    while node >= 0 and fault == F_WHOLE:
        next = p.nodes[node].next
        if p.nodes[node].packed:
            fault = show_packed(p, o, node, &parted)
        else:
            fault = put_part(p, o, b",", 1) if parted else F_WHOLE
            parted = True
            if fault == F_WHOLE:
                fault = show_value(p, o, node, depth)
        node = next
    return fault if fault else put_part(p, o, b"]", 1)


cdef int show_packed(ProtobufReader p, Output o, int32_t node, bint* parted) except -1:
    cdef const int32_t* field = &p.code[p.nodes[node].place]
    cdef const uint8_t* end
    cdef uint64_t value = 0
    cdef int fault = F_WHOLE
    p.at = <const uint8_t*> <size_t> p.nodes[node].value
    end = p.at + p.nodes[node].size
    while p.at < end and fault == F_WHOLE:
        scalar_of(p, field, end, &value)  # it was read before
        if is_unknown(p, field, value):
            continue
        fault = put_part(p, o, b",", 1) if parted[0] else F_WHOLE
        parted[0] = True
        if fault == F_WHOLE:
            fault = show_scalar(p, o, field, value, 0)
    return fault


cdef int show_map(ProtobufReader p, Output o, int32_t node, int depth) except -1:
    """Entries by their keys. Of those with one key the last counts, where it is."""
    cdef int32_t inner = p.code[p.nodes[node].place + 4], key = 0, value = 0
    cdef const int32_t* of_key = &p.code[field_of(p.code, inner, 1, 0)]
    cdef const int32_t* of_value = &p.code[field_of(p.code, inner, 2, 0)]
    cdef bint parted = False
    cdef dict entries = {}
    cdef int fault = put_part(p, o, b"{", 1)
    while node >= 0:
        pair(p, node, of_key, of_value, &key, &value)
        held = bytes_of(p, key, of_key[1] == P_STRING)
        entries.pop(held, None)
        entries[held] = (key, value)
        node = p.nodes[node].next
    for key, value in entries.values():
        if fault == F_WHOLE and parted:
            fault = put_part(p, o, b",", 1)
        parted = True
        if fault == F_WHOLE:
            fault = show_key(p, o, of_key, key)
        if fault == F_WHOLE:
            fault = show_value(p, o, value, depth)
        if fault:
            return fault
    return fault if fault else put_part(p, o, b"}", 1)


cdef int pair(
    ProtobufReader p, int32_t entry, const int32_t* of_key, const int32_t* of_value, int32_t* key, int32_t* value
) except -1:
    """The nodes of an entry's key and value; what is missing of it is 0 or empty."""
    cdef int32_t node = in_order(p, entry)
    key[0] = value[0] = -1
    while node >= 0:
        if p.code[p.nodes[node].place] == 1:
            key[0] = node
        elif p.code[p.nodes[node].place] == 2:
            value[0] = node
        node = p.nodes[node].peer
    if key[0] < 0:
        new_node(p, <int32_t> (of_key - p.code), key)
    if value[0] < 0:
        new_node(p, <int32_t> (of_value - p.code), value)
    return 0


cdef bytes bytes_of(ProtobufReader p, int32_t node, bint text):
    """The bytes of a text, or of a number: what a map's key is told from others by."""
    if text:
        return PyBytes_FromStringAndSize(<const char*> <size_t> p.nodes[node].value, p.nodes[node].size)
    return PyBytes_FromStringAndSize(<const char*> &p.nodes[node].value, 8)


cdef int show_key(ProtobufReader p, Output o, const int32_t* field, int32_t node) except -1:
    cdef int32_t kind = field[1]
    cdef bint quoted = kind != P_STRING and WIRES[kind] != W_EIGHT and not is_wide(kind)
    cdef int fault = put_part(p, o, b'"', 1) if quoted else F_WHOLE
    if fault == F_WHOLE:
        fault = show_scalar(p, o, field, p.nodes[node].value, p.nodes[node].size)
    if fault == F_WHOLE:
        fault = put_part(p, o, b'":', 2) if quoted else put_part(p, o, b":", 1)
    return fault


cdef inline bint is_wide(int32_t kind) noexcept:
    """Whether a number has 64 bits, which JSON has as a string."""
    return (
        kind == P_INT64 or kind == P_UINT64 or kind == P_FIXED64 or kind == P_SFIXED64 or kind == P_SINT64
    )


cdef int show_scalar(ProtobufReader p, Output o, const int32_t* field, uint64_t value, int32_t size) except -1:
    cdef int32_t kind = field[1], text
    cdef const uint8_t* at = <const uint8_t*> <size_t> value
    cdef uint32_t half = <uint32_t> value
    cdef float small
    cdef double wide
    if kind == P_ENUM:
        text = name_of(p.code, field[4], <int32_t> value)
        if field[2] & P_NULL:
            return put_part(p, o, b"null", 4)
        if text >= 0:
            return put_part(p, o, p.texts[text], p.sizes[text])
    if kind == P_STRING:
        put_lossy(o, at, size)  # of a lossy field: others that are not UTF-8 were refused
        return too_large(p, o)
    if kind == P_BYTES:
        o.room(4 * ((<Py_ssize_t> size + 2) // 3) + 16)
        o.to[0] = c'"'
        o.to = put_base64_digits(o.to + 1, at, size)
        o.to[0] = c'"'
        o.to += 1
        return too_large(p, o)
    if o.stop - o.to < 40:
        o.room(40)
    if is_wide(kind):
        o.to[0] = c'"'
        o.to = put_unsigned(o.to + 1, value) if kind == P_UINT64 or kind == P_FIXED64 else put_digits(o.to + 1, <int64_t> value)
        o.to[0] = c'"'
        o.to += 1
    elif kind == P_BOOL:
        o.to = put(o.to, b"true", 4) if value else put(o.to, b"false", 5)
    elif kind == P_DOUBLE:
        memcpy(&wide, &value, 8)
        o.to = put_double(o.to, wide)
    elif kind == P_FLOAT:
        memcpy(&small, &half, 4)
        o.to = put_single(o.to, small)
    else:
        o.to = put_digits(o.to, <int64_t> value)
    return too_large(p, o)


cdef int show_known(ProtobufReader p, Output o, int32_t first, int32_t message, int32_t known, int depth) except -1:
    """A message with a JSON of its own, or NOT_ITS_OWN."""
    cdef int32_t one = -1, two = -1, node = first
    while node >= 0:
        if p.code[p.nodes[node].place] == 1:
            one = node
        elif p.code[p.nodes[node].place] == 2:
            two = node
        node = p.nodes[node].peer
    if known == K_TIMESTAMP or known == K_DURATION:
        return show_time(
            p, o, known == K_TIMESTAMP, <int64_t> p.nodes[one].value if one >= 0 else 0,
            <int64_t> p.nodes[two].value if two >= 0 else 0,
        )
    if known == K_STRUCT or known == K_LIST:
        if one >= 0:
            return show_held(p, o, one, depth)
        return put_part(p, o, b"{}" if known == K_STRUCT else b"[]", 2)
    if known == K_VALUE and first >= 0 and not p.nodes[first].packed and p.code[p.nodes[first].place + 1] == P_DOUBLE:
        if p.nodes[first].value >> 52 & 2047 == 2047:  # "Infinity" would be a text
            return NOT_ITS_OWN
    if known == K_VALUE:
        return put_part(p, o, b"null", 4) if first < 0 else show_value(p, o, first, depth)
    if known == K_FIELD_MASK:
        return show_mask(p, o, one)
    if known == K_WRAPPER:
        if one >= 0:
            return show_value(p, o, one, depth)
        return show_scalar(p, o, &p.code[field_of(p.code, message, 1, 0)], 0, 0)
    return show_any(p, o, one, two, depth)


cdef int show_mask(ProtobufReader p, Output o, int32_t node) except -1:
    from kcli.proto.plain.protobuf_show import field_mask

    cdef bytes made
    cdef list paths = []
    while node >= 0:
        paths.append(bytes_of(p, node, True).decode())
        node = p.nodes[node].next
    made = field_mask(paths)
    return put_part(p, o, PyBytes_AS_STRING(made), PyBytes_GET_SIZE(made))


cdef int show_time(ProtobufReader p, Output o, bint timestamp, int64_t seconds, int64_t nanos) except -1:
    cdef int64_t days
    if timestamp:
        if seconds < FIRST_SECOND or seconds > LAST_SECOND or nanos < 0 or nanos > 999999999:
            return NOT_ITS_OWN
    elif (
        seconds > LONGEST_DURATION or seconds < -LONGEST_DURATION or nanos > 999999999 or nanos < -999999999
        or (seconds > 0 and nanos < 0) or (seconds < 0 and nanos > 0)
    ):
        return NOT_ITS_OWN
    o.room(80)
    o.to[0] = c'"'
    o.to += 1
    if timestamp:
        days = floor_div(seconds, 86400)
        o.to = put_day(o.to, days)
        o.to[0] = c"T"
        seconds -= 86400 * days
        o.to = put_fixed(o.to + 1, seconds // 3600, 2)
        o.to[0] = c":"
        o.to = put_fixed(o.to + 1, seconds // 60 % 60, 2)
        o.to[0] = c":"
        o.to = put_fixed(o.to + 1, seconds % 60, 2)
    else:
        if seconds < 0 or nanos < 0:
            o.to[0] = c"-"
            o.to += 1
            seconds, nanos = -seconds, -nanos
        o.to = put_digits(o.to, seconds)
    o.to = put_nanos(o.to, nanos)
    o.to = put(o.to, b'Z"' if timestamp else b's"', 2)
    return too_large(p, o)


cdef char* put_nanos(char* to, int64_t nanos) noexcept nogil:
    """The point and 3, 6 or 9 digits; nothing for 0."""
    if nanos == 0:
        return to
    to[0] = c"."
    if nanos % 1000000 == 0:
        return put_fixed(to + 1, nanos // 1000000, 3)
    return put_fixed(to + 1, nanos // 1000, 6) if nanos % 1000 == 0 else put_fixed(to + 1, nanos, 9)


cdef int show_any(ProtobufReader p, Output o, int32_t url, int32_t data, int depth) except -1:
    """The message within by its type's name; one of a type that the schema does not have as base64."""
    cdef bytes named = bytes_of(p, url, True) if url >= 0 else b""
    cdef const uint8_t* at = <const uint8_t*> <size_t> p.nodes[data].value if data >= 0 else NULL
    cdef int32_t size = p.nodes[data].size if data >= 0 else 0
    cdef int64_t unknown = p.unknown
    cdef int32_t root = -1, used = p.used, message = -1
    cdef int fault = F_WHOLE
    if not named and size == 0:
        return NOT_ITS_OWN
    fault = put_part(p, o, b'{"@type":', 9)
    if fault == F_WHOLE:
        o.room(6 * PyBytes_GET_SIZE(named) + 32)
        o.to = put_text(o.to, <const uint8_t*> PyBytes_AS_STRING(named), PyBytes_GET_SIZE(named))
        fault = too_large(p, o)
    if fault:
        return fault
    found = p.names.get(named.rpartition(b"/")[2])
    if found is not None:
        message = found
        new_node(p, 0, &root)
        p.at = at
        if read_fields(p, root, message, at + size, 0, 0):
            root, p.used = -1, used
        p.unknown = unknown
    if root < 0:
        o.room(4 * ((<Py_ssize_t> size + 2) // 3) + 32)
        o.to = put_base64_digits(put(o.to, b',"value":"', 10), at, size)
        o.to = put(o.to, b'"}', 2)
        return too_large(p, o)
    if p.code[p.code[P_MESSAGES + message]]:
        fault = put_part(p, o, b',"value":', 9)
        if fault == F_WHOLE:
            fault = show_message(p, o, root, message, depth + 1)
    else:
        fault = show_fields(p, o, in_order(p, root), True, depth + 1)
    return fault if fault else put_part(p, o, b"}", 1)
