# A column of payloads as JSON, each by its reader; as plain/payloads.py.

cdef enum:  # faults.py has the same, in the same order; a test compares them
    F_WHOLE, F_CUT, F_LEFT, F_VARINT, F_INDEX, F_NEGATIVE, F_BLOCK, F_DEEP, F_TEXT, F_NO_BOOLEAN, F_LARGE, F_NOTHING
    F_REFUSED, F_DIGITS, F_NESTED, F_GROUP, F_WIRE, F_NUMBER, F_INDEXES, F_FEW_INDEXES, F_NO_MESSAGE
    F_BULKY, F_PRECISION, F_RANGE

cdef enum:
    RATIO = 256

cdef Py_ssize_t ROOM = 16 << 20


cdef class ColumnReader:
    """What reads payloads."""

    cdef int row(self, Output o, const uint8_t* at, const uint8_t* end) except -1:
        """A payload's JSON; its fault, or F_WHOLE. Whatever it wrote before a fault is taken back."""
        raise NotImplementedError

    def json(self, data):
        """A payload's JSON. Raises Fault."""
        cdef const uint8_t[::1] view = data
        cdef bytearray out = bytearray()
        cdef Output o = Output(out, 0)
        cdef const uint8_t* at = &view[0] if view.shape[0] else <const uint8_t*> b""
        cdef int fault = self.row(o, at, at + view.shape[0])
        if fault:
            from kcli.proto.faults import Fault

            raise Fault(fault)
        o.close(True)
        return bytes(out)


def payload_json(data, starts, lengths, skips, which, readers):
    """As plain.payloads.payload_json."""
    cdef const uint8_t[::1] view = data
    cdef const int[::1] at = starts, sizes = lengths, skip = skips, reader_of = which
    cdef Py_ssize_t row, rows = at.shape[0], nulls = 0, total = view.shape[0], begin
    cdef bytearray out = bytearray(), ends = bytearray(4 * (rows + 1)), valid = bytearray((rows + 7) // 8)
    cdef int32_t* end_at = <int32_t*> PyByteArray_AS_STRING(ends)
    cdef uint8_t* valid_at = <uint8_t*> PyByteArray_AS_STRING(valid)
    cdef Output o = Output(out, 0)
    cdef ColumnReader reader
    cdef list faults = [], held = list(readers)
    cdef int fault, kept
    from kcli.proto.spans import Spans
    for row in range(rows):
        if sizes[row] >= 0:
            if at[row] < 0 or at[row] > total - sizes[row] or skip[row] < 0:
                raise DecodeError("a field outside its buffer")
            valid_at[row >> 3] |= <uint8_t> (1 << (row & 7))
            fault = F_WHOLE
            if reader_of[row] >= 0:
                reader = held[reader_of[row]]
                begin = o.to - PyByteArray_AS_STRING(out)
                fault = reader.row(
                    o, &view[0] + at[row] + min(skip[row], sizes[row]), &view[0] + at[row] + sizes[row]
                )
                if fault:
                    faults.append((row, fault))
                    o.to = PyByteArray_AS_STRING(out) + begin
            if fault or reader_of[row] < 0:
                kept = min(skip[row], sizes[row]) if reader_of[row] < -1 else 0
                if sizes[row] > kept:
                    o.room(sizes[row] - kept)
                    o.to = put(o.to, &view[0] + at[row] + kept, sizes[row] - kept)
        else:
            nulls += 1
        if o.to - PyByteArray_AS_STRING(out) > 2147483647:
            raise DecodeError("more than 2 GiB of records at once")
        end_at[row + 1] = <int32_t> (o.to - PyByteArray_AS_STRING(out))
    o.close(True)
    return Spans(rows, nulls, valid if nulls else None, ends, out), faults
