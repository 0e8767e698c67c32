# Protobuf payloads as a tree of nodes, by a program of protobuf_code.py; as plain/protobuf_tree.py.

cdef enum:  # protobuf_code.py has the same; a test compares them
    P_DOUBLE = 1, P_FLOAT, P_INT64, P_UINT64, P_INT32, P_FIXED64, P_FIXED32, P_BOOL, P_STRING, P_GROUP, P_MESSAGE
    P_BYTES, P_UINT32, P_ENUM, P_SFIXED32, P_SFIXED64, P_SINT32, P_SINT64

cdef enum:
    W_VARINT, W_EIGHT, W_LENGTH, W_START, W_END, W_FOUR

cdef enum:
    P_REPEATED = 1, P_PRESENCE = 2, P_MAP = 4, P_CLOSED = 8, P_NULL = 16, P_LOSSY = 32
    P_MESSAGES = 3, P_FIELD = 7
    P_BARE = 0, P_BY_INDEXES = 1, P_BY_NAME = 2, P_BY_NUMBER = 3
    P_NOT_NAMED = -2
    NESTED_MOST = 100
    MOST_INDEXES = 64
    NODES = 256

cdef int64_t LARGEST_NUMBER = (1 << 29) - 1
cdef int[19] WIRES = [-1, 1, 5, 0, 0, 0, 1, 5, 0, 2, 3, 2, 2, 0, 0, 5, 1, 0, 0]


cdef struct Node:  # of a field: a value, the packed values, or a message and the first and last node in it
    uint64_t value  # the bits of a scalar; of a text, bytes or packed values the address
    int32_t size
    int32_t place  # of its field in the program
    int32_t next, first, last
    int32_t tail, peer  # in a message that is being shown: the field's last node, the next field's first
    bint packed


cdef class ProtobufReader(ColumnReader):
    """As plain.protobuf.ProtobufReader."""

    cdef array.array held
    cdef list kept
    cdef dict names, fronts
    cdef object find
    cdef int front
    cdef readonly int64_t unknown
    cdef const int32_t* code
    cdef const char** texts
    cdef Py_ssize_t* sizes
    cdef Node* nodes
    cdef int32_t used, capacity
    cdef int64_t* seen  # by field, then by oneof: the message that it was last seen in
    cdef int32_t* heads  # by field: its first node there; by oneof: the field that is set
    cdef int64_t messages
    cdef const uint8_t* at
    cdef const uint8_t* begin
    cdef Py_ssize_t out_begin, most

    def __cinit__(self, code, texts, names, front, find):
        cdef Py_ssize_t i, slots
        self.held = arrays.array("i", code)
        self.kept = [bytes(text) for text in texts]
        self.names, self.front, self.find, self.fronts = dict(names), front, find, {}
        self.code = <const int32_t*> self.held.data.as_ints
        slots = self.code[1] + self.code[2] + 1
        self.texts = <const char**> malloc((len(self.kept) + 1) * sizeof(char*))
        self.sizes = <Py_ssize_t*> malloc((len(self.kept) + 1) * sizeof(Py_ssize_t))
        self.seen = <int64_t*> malloc(slots * sizeof(int64_t))
        self.heads = <int32_t*> malloc(slots * sizeof(int32_t))
        if self.texts == NULL or self.sizes == NULL or self.seen == NULL or self.heads == NULL:
            raise MemoryError
        memset(self.seen, 0, slots * sizeof(int64_t))
        for i in range(len(self.kept)):
            self.texts[i], self.sizes[i] = PyBytes_AS_STRING(self.kept[i]), PyBytes_GET_SIZE(self.kept[i])

    def __dealloc__(self):
        free(self.texts)
        free(self.sizes)
        free(self.seen)
        free(self.heads)
        free(self.nodes)

    cdef int row(self, Output o, const uint8_t* at, const uint8_t* end) except -1:
        """As plain.protobuf.ProtobufReader.json."""
        cdef int64_t size = 0
        cdef uint64_t number = 0
        cdef int fault = F_WHOLE
        if self.front == P_BARE:
            return self.payload(o, at, at, end, P_BARE)
        if self.front == P_BY_NUMBER:
            self.at = at
            fault = unsigned_of(self, end, &number)
            return fault if fault else self.payload(o, at, self.at, end, P_BY_NUMBER)
        fault = indexes_of(at, end, &size)
        if fault == F_WHOLE:
            fault = self.payload(o, at, at + size, end, P_BY_INDEXES)
        if fault and end - at >= 4 and at[0] <= 127 and at[1] == 10 and at[2] == at[0] - 2 and end - at > at[0]:
            if self.message_of(at, at + at[0] + 1, P_BY_NAME) != P_NOT_NAMED:
                return self.payload(o, at, at + at[0] + 1, end, P_BY_NAME)
        return fault

    cdef int32_t message_of(self, const uint8_t* at, const uint8_t* to, int form) except? -1:
        """The message that the bytes before a payload mean."""
        cdef bytes front = PyBytes_FromStringAndSize(<const char*> at, to - at)
        key = (front, form) if form == P_BY_NAME else front
        found = self.fronts.get(key)
        if found is None:
            if len(self.fronts) > 4096:  # a number may be written in several ways
                self.fronts.clear()
            found = self.fronts[key] = self.find(front, form)
        return found

    cdef int payload(self, Output o, const uint8_t* at, const uint8_t* begin, const uint8_t* end, int form) except -1:
        """The payload from `begin` on as JSON. What it wrote stays where it has a fault: the column takes it back."""
        cdef int32_t message = self.message_of(at, begin, form)
        cdef int32_t root = 0
        cdef int64_t unknown = self.unknown
        cdef int fault
        if message < 0:
            return F_NO_MESSAGE
        self.at, self.used = begin, 0
        self.out_begin = o.to - PyByteArray_AS_STRING(o.out)
        self.most = ROOM + RATIO * (end - begin)
        new_node(self, 0, &root)
        fault = read_fields(self, root, message, end, 0, 0)
        if fault == F_WHOLE:
            fault = show_message(self, o, root, message, 0)
        if fault:
            self.unknown = unknown
            o.to = PyByteArray_AS_STRING(o.out) + self.out_begin
        if self.capacity > 1 << 16:  # the next one is not as large
            free(self.nodes)
            self.nodes, self.capacity = NULL, 0
        return fault


cdef int new_node(ProtobufReader p, int32_t place, int32_t* made) except -1:
    cdef Node* more
    cdef int32_t wanted
    if p.used == p.capacity:
        if p.capacity > 1 << 29:
            raise MemoryError
        wanted = p.capacity * 2 if p.capacity else NODES
        more = <Node*> realloc(p.nodes, wanted * sizeof(Node))
        if more == NULL:
            raise MemoryError
        p.nodes, p.capacity = more, wanted
    made[0] = p.used
    p.used += 1
    memset(&p.nodes[made[0]], 0, sizeof(Node))
    p.nodes[made[0]].place = place
    p.nodes[made[0]].next = p.nodes[made[0]].first = p.nodes[made[0]].last = -1
    return 0


cdef inline void add_node(ProtobufReader p, int32_t owner, int32_t made) noexcept:
    if p.nodes[owner].last < 0:
        p.nodes[owner].first = made
    else:
        p.nodes[p.nodes[owner].last].next = made
    p.nodes[owner].last = made


cdef inline int unsigned_of(ProtobufReader p, const uint8_t* end, uint64_t* value) noexcept:
    """A varint of up to ten bytes; what is above 64 bits is dropped."""
    cdef const uint8_t* at = p.at
    cdef uint64_t byte, total = 0
    cdef int shift = 0
    while shift < 70:
        if at >= end:
            return F_CUT
        byte = at[0]
        at += 1
        total |= (byte & 127) << shift
        if byte < 128:
            p.at, value[0] = at, total
            return F_WHOLE
        shift += 7
    return F_VARINT


cdef inline int size_of(ProtobufReader p, const uint8_t* end, uint64_t* size) noexcept:
    cdef int fault = unsigned_of(p, end, size)
    if fault:
        return fault
    return F_CUT if size[0] > <uint64_t> (end - p.at) else F_WHOLE


cdef int indexes_of(const uint8_t* at, const uint8_t* end, int64_t* size) noexcept:
    """How many bytes Confluent's message indexes take."""
    cdef Avro a
    cdef int64_t count = 0, index = 0
    a.at, a.end = at, end
    if number_of(&a, 32, &count):
        return F_FEW_INDEXES
    if count < 0 or count > MOST_INDEXES:
        return F_INDEXES
    while count > 0:
        if number_of(&a, 32, &index):
            return F_FEW_INDEXES
        if index < 0:
            return F_INDEXES
        count -= 1
    size[0] = a.at - at
    return F_WHOLE


cdef int32_t field_of(const int32_t* code, int32_t message, uint64_t number, int32_t near) noexcept:
    """The place of a message's field, looked for at the place after the last one first; -1 where it has none."""
    cdef int32_t place = code[P_MESSAGES + message], low = 0, high = code[place + 1] - 1, middle, found
    cdef int32_t stop = place + 2 + P_FIELD * code[place + 1]
    if near and near < stop and <uint64_t> code[near] == number:
        return near
    while low <= high:
        middle = (low + high) // 2
        found = place + 2 + P_FIELD * middle
        if <uint64_t> code[found] == number:
            return found
        if <uint64_t> code[found] < number:
            low = middle + 1
        else:
            high = middle - 1
    return -1


cdef int32_t name_of(const int32_t* code, int32_t place, int32_t number) noexcept:
    """The text of an enum's number, -1 where it has none."""
    cdef int32_t low = 0, high = code[place] - 1, middle
    while low <= high:
        middle = (low + high) // 2
        if code[place + 1 + 2 * middle] == number:
            return code[place + 2 + 2 * middle]
        if code[place + 1 + 2 * middle] < number:
            low = middle + 1
        else:
            high = middle - 1
    return -1


cdef int read_fields(
    ProtobufReader p, int32_t owner, int32_t message, const uint8_t* end, uint64_t group, int depth
) except -1:
    """Fields into a node, up to the end, or to the end of the group of this number."""
    cdef uint64_t tag = 0, number
    cdef int32_t field, near = p.code[P_MESSAGES + message] + 2
    cdef int fault, wire
    if depth > NESTED_MOST:
        return F_NESTED
    while p.at < end:
        fault = unsigned_of(p, end, &tag)
        if fault:
            return fault
        number, wire = tag >> 3, tag & 7
        if number < 1 or number > <uint64_t> LARGEST_NUMBER:
            return F_NUMBER
        if wire == W_END:
            return F_WHOLE if number == group else F_GROUP
        field = field_of(p.code, message, number, near)
        if field >= 0:
            near = field if p.code[field + 2] & P_REPEATED else field + P_FIELD
            if wire != WIRES[p.code[field + 1]]:
                if wire != W_LENGTH or not p.code[field + 2] & P_REPEATED or WIRES[p.code[field + 1]] in (W_START, W_LENGTH):
                    field = -1
        if field < 0:
            p.unknown += 1
            fault = pass_over(p, wire, number, end, depth)
        elif wire != WIRES[p.code[field + 1]]:
            fault = read_packed(p, owner, field, end)
        elif p.code[field + 1] == P_MESSAGE or p.code[field + 1] == P_GROUP:
            fault = read_inner(p, owner, field, end, depth + 1)
        else:
            fault = read_value(p, owner, field, end)
        if fault:
            return fault
    return F_CUT if group else F_WHOLE


cdef int read_inner(ProtobufReader p, int32_t owner, int32_t field, const uint8_t* end, int depth) except -1:
    """A message, a group or an entry of a map."""
    cdef const int32_t* code = p.code
    cdef int64_t unknown = p.unknown
    cdef uint64_t size = 0
    cdef int32_t made = 0, value, inner = code[field + 4]
    cdef int fault
    new_node(p, field, &made)
    if code[field + 1] == P_GROUP:
        fault = read_fields(p, made, inner, end, <uint64_t> code[field], depth)
    else:
        fault = size_of(p, end, &size)
        if fault == F_WHOLE:
            fault = read_fields(p, made, inner, p.at + size, 0, depth)
    if fault:
        return fault
    if code[field + 2] & P_MAP and p.unknown > unknown:  # a number that its enum does not have: all of it is unknown
        value = field_of(code, inner, 2, 0)
        if code[value + 2] & P_CLOSED and not has_field(p, made, value):
            return F_WHOLE
    add_node(p, owner, made)
    return F_WHOLE


cdef bint has_field(ProtobufReader p, int32_t owner, int32_t field) noexcept:
    cdef int32_t node = p.nodes[owner].first
    while node >= 0 and p.nodes[node].place != field:
        node = p.nodes[node].next
    return node >= 0


cdef int scalar_of(ProtobufReader p, const int32_t* field, const uint8_t* end, uint64_t* value) noexcept:
    """The bits of a scalar that is no text: a signed one as int64, a float as float32."""
    cdef int32_t kind = field[1]
    cdef int fault
    cdef uint64_t bits = 0
    if WIRES[kind] == W_EIGHT:
        if end - p.at < 8:
            return F_CUT
        value[0] = little(p.at, 8)
        p.at += 8
        return F_WHOLE
    if WIRES[kind] == W_FOUR:
        if end - p.at < 4:
            return F_CUT
        bits = little(p.at, 4)
        value[0] = <uint64_t> <int64_t> <int32_t> bits if kind == P_SFIXED32 else bits
        p.at += 4
        return F_WHOLE
    fault = unsigned_of(p, end, &bits)
    if fault:
        return fault
    if kind == P_INT32 or kind == P_ENUM:
        bits = <uint64_t> <int64_t> <int32_t> bits
    elif kind == P_UINT32:
        bits &= 0xFFFFFFFF
    elif kind == P_BOOL:
        bits = bits != 0
    elif kind == P_SINT64:
        bits = bits >> 1 ^ -(bits & 1)
    elif kind == P_SINT32:
        bits &= 0xFFFFFFFF
        bits = bits >> 1 ^ -(bits & 1)
    value[0] = bits
    return F_WHOLE


cdef inline bint is_unknown(ProtobufReader p, const int32_t* field, uint64_t value) noexcept:
    return field[2] & P_CLOSED and name_of(p.code, field[4], <int32_t> value) < 0


cdef int read_value(ProtobufReader p, int32_t owner, int32_t field, const uint8_t* end) except -1:
    cdef int32_t made = 0, kind = p.code[field + 1]
    cdef uint64_t value = 0, size = 0
    cdef int fault
    if kind == P_STRING or kind == P_BYTES:
        fault = size_of(p, end, &size)
        if fault:
            return fault
        if kind == P_STRING and not p.code[field + 2] & P_LOSSY and not is_text(p.at, p.at + size):
            return F_TEXT
        value = <uint64_t> <size_t> p.at
        p.at += size
    else:
        fault = scalar_of(p, &p.code[field], end, &value)
        if fault:
            return fault
        if is_unknown(p, &p.code[field], value):
            p.unknown += 1
            return F_WHOLE
    new_node(p, field, &made)
    p.nodes[made].value, p.nodes[made].size = value, <int32_t> size
    add_node(p, owner, made)
    return F_WHOLE


cdef int read_packed(ProtobufReader p, int32_t owner, int32_t field, const uint8_t* end) except -1:
    """Values one after another: one node, which they are read from again when they are shown."""
    cdef uint64_t size = 0, value = 0
    cdef int64_t count = 0
    cdef int32_t made = 0
    cdef const uint8_t* begin
    cdef int fault = size_of(p, end, &size)
    if fault:
        return fault
    begin, end = p.at, p.at + size
    while p.at < end:
        fault = scalar_of(p, &p.code[field], end, &value)
        if fault:
            return fault
        if is_unknown(p, &p.code[field], value):
            p.unknown += 1
        else:
            count += 1
    if count:
        new_node(p, field, &made)
        p.nodes[made].value, p.nodes[made].size, p.nodes[made].packed = <uint64_t> <size_t> begin, <int32_t> size, True
        add_node(p, owner, made)
    return F_WHOLE


cdef bint is_text(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Whether bytes are UTF-8."""
    cdef uint64_t word
    cdef int size
    while at < end:
        while end - at >= 8:
            memcpy(&word, at, 8)
            if word & 0x8080808080808080ULL:
                break
            at += 8
        while at < end and at[0] < 128:
            at += 1
        if at < end:
            size = utf8_size(at, end)
            if size == 0:
                return False
            at += size
    return True


cdef int pass_over(ProtobufReader p, int wire, uint64_t number, const uint8_t* end, int depth) noexcept:
    """A field that the schema does not have; groups are read without recursion."""
    cdef uint64_t[101] groups
    cdef uint64_t tag = 0, size = 0
    cdef int fault, count = 0
    while True:
        if wire == W_VARINT:
            fault = unsigned_of(p, end, &size)
        elif wire == W_EIGHT or wire == W_FOUR:
            size = 8 if wire == W_EIGHT else 4
            fault = F_CUT if <uint64_t> (end - p.at) < size else F_WHOLE
            p.at += 0 if fault else size
        elif wire == W_LENGTH:
            fault = size_of(p, end, &size)
            p.at += 0 if fault else size
        elif wire == W_START:
            if depth + count >= NESTED_MOST:
                return F_NESTED
            groups[count], fault = number, F_WHOLE
            count += 1
        elif wire == W_END:
            count -= 1
            fault = F_WHOLE if count >= 0 and groups[count] == number else F_GROUP
        else:
            return F_WIRE
        if fault or count == 0:
            return fault
        fault = unsigned_of(p, end, &tag)
        if fault:
            return fault
        number, wire = tag >> 3, tag & 7
