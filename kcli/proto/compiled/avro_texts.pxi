# Avro's values as JSON texts; as plain/avro_texts.py. The caller has made room.

cdef double NORMAL = 2.0 ** -126
cdef double[7] TENS = [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0, 1000000.0]


cdef inline uint64_t little(const uint8_t* at, int size) noexcept nogil:
    cdef uint64_t value = 0
    cdef int i
    for i in range(size):
        value |= <uint64_t> at[i] << (8 * i)
    return value


cdef inline char* put_fixed(char* to, int64_t number, int digits) noexcept nogil:
    """A number with leading zeros; it has no more digits."""
    cdef int i
    for i in range(digits - 1, -1, -1):
        to[i] = <char> (48 + number % 10)
        number //= 10
    return to + digits


cdef inline int64_t floor_div(int64_t number, int64_t by) noexcept nogil:
    return number // by - (number % by < 0)


cdef char* put_day(char* to, int64_t days) noexcept nogil:
    cdef int64_t day = days + 719468, era = floor_div(day, 146097), year, month
    day -= era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    year += 400 * era + (month > 9)
    month += 3 if month < 10 else -9
    if year < 0 or year > 9999:
        to[0] = c"-" if year < 0 else c"+"
        to += 1
        year = -year if year < 0 else year
    to = put_digits(to, year) if year > 9999 else put_fixed(to, year, 4)
    to[0] = c"-"
    to = put_fixed(to + 1, month, 2)
    to[0] = c"-"
    return put_fixed(to + 1, day, 2)


cdef inline int64_t parts_of(int digits) noexcept nogil:
    return 1000 if digits == 3 else 1000000 if digits == 6 else 1000000000


cdef char* put_clock(char* to, int64_t number, int digits) noexcept nogil:
    cdef int64_t seconds = number // parts_of(digits)
    to = put_fixed(to, seconds // 3600, 2)
    to[0] = c":"
    to = put_fixed(to + 1, seconds // 60 % 60, 2)
    to[0] = c":"
    to = put_fixed(to + 1, seconds % 60, 2)
    to[0] = c"."
    return put_fixed(to + 1, number % parts_of(digits), digits)


cdef char* put_time(char* to, int64_t number, int digits) noexcept nogil:
    if number < 0 or number >= 86400 * parts_of(digits):
        return put_digits(to, number)
    to[0] = c'"'
    to = put_clock(to + 1, number, digits)
    to[0] = c'"'
    return to + 1


cdef char* put_timestamp(char* to, int64_t number, int digits, bint utc) noexcept nogil:
    cdef int64_t day = 86400 * parts_of(digits), days = floor_div(number, day)
    to[0] = c'"'
    to = put_day(to + 1, days)
    to[0] = c"T"
    to = put_clock(to + 1, number - days * day, digits)
    return put(to, b'Z"', 2) if utc else put(to, b'"', 1)


cdef char* put_uuid(char* to, const uint8_t* at) noexcept nogil:
    cdef int i
    to[0] = c'"'
    to += 1
    for i in range(16):
        if i == 4 or i == 6 or i == 8 or i == 10:
            to[0] = c"-"
            to += 1
        to[0], to[1] = HEX[at[i] >> 4], HEX[at[i] & 15]
        to += 2
    to[0] = c'"'
    return to + 1


cdef char* put_duration(char* to, const uint8_t* at) noexcept nogil:
    to = put_digits(put(to, b'{"months":', 10), <int64_t> little(at, 4))
    to = put_digits(put(to, b',"days":', 8), <int64_t> little(at + 4, 4))
    to = put_digits(put(to, b',"millis":', 10), <int64_t> little(at + 8, 4))
    return put(to, b"}", 1)


cdef inline char* put_odd(char* to, double number) noexcept nogil:
    if isnan(number):
        return put(to, b'"NaN"', 5)
    return put(to, b'"Infinity"', 10) if number > 0 else put(to, b'"-Infinity"', 11)


cdef char* put_short(char* to, double number, double most, bint single) noexcept nogil:
    """A number of few digits, which needs no search for the shortest text: NULL where it has more. Two decimals of
    15 digits (of 6, for float32) are two different floats, so one that reads as the number is the shortest."""
    cdef double scaled, size = fabs(number)
    cdef int64_t whole, part
    cdef int k
    if size != 0 and size < 0.0001:
        return NULL
    for k in range(7):
        scaled = rint(size * TENS[k])
        if scaled >= most:
            return NULL
        if scaled / TENS[k] == size or (single and <float> (scaled / TENS[k]) == <float> size):
            if signbit(number):
                to[0] = c"-"
                to += 1
            whole, part = <int64_t> scaled, <int64_t> TENS[k]
            to = put_digits(to, whole // part)
            to[0] = c"."
            return put_fixed(to + 1, whole % part, k) if k else put(to + 1, b"0", 1)
    return NULL


cdef char* put_repr(char* to, double number) except NULL:
    cdef char* text = PyOS_double_to_string(number, c"r", 0, 2, NULL)
    cdef Py_ssize_t size = 0
    while text[size]:
        size += 1
    to = put(to, text, size)
    PyMem_Free(text)
    return to


cdef char* put_double(char* to, double number) except NULL:
    """At most 26 bytes."""
    cdef char* after
    if not isfinite(number):
        return put_odd(to, number)
    after = put_short(to, number, 1e15, False)
    return put_repr(to, number) if after == NULL else after


cdef char* put_single(char* to, float number) except NULL:
    """At most 26 bytes."""
    cdef char* after
    cdef char* text
    cdef double shorter
    cdef int digits
    if not isfinite(number):
        return put_odd(to, number)
    after = put_short(to, number, 1e6, True)
    if after != NULL:
        return after
    for digits in range(6 if fabs(number) >= NORMAL else 1, 10):
        text = PyOS_double_to_string(number, c"g", digits, 0, NULL)
        shorter = PyOS_string_to_double(text, NULL, None)
        PyMem_Free(text)
        if <float> shorter == number:
            break
    return put_repr(to, shorter)
