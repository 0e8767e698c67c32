# Values that are counted: plain.tally, on fields of C.

cdef class Tally:
    """As plain.tally.Tally."""

    cdef public double unit, total, least, largest
    cdef public int64_t count
    cdef public dict buckets

    def __init__(self, double unit=1.0):
        self.unit = unit
        self.buckets = {}

    def add(self, double value):
        """As plain.tally.Tally.add."""
        cdef int bucket = 0
        cdef double units
        cdef PyObject* seen
        if value < 0:
            value = 0
        units = value / self.unit
        if units >= 1:
            if not isfinite(units):
                int(units)  # raises what Python raises
            frexp(units, &bucket)
        elif isnan(units):
            int(units)
        seen = PyDict_GetItemWithError(self.buckets, bucket)
        self.buckets[bucket] = 1 if seen == NULL else <object> seen + 1
        if not self.count:
            self.least = self.largest = value
        elif value > self.largest:
            self.largest = value
        elif value < self.least:
            self.least = value
        self.count += 1
        self.total += value
