# One record into an open batch, as a loop over `send` needs it: plain.single, on fields of C.

cdef enum:
    AT_A_TIME = 2000
    OVERHEAD = 40


cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1


cdef extern from "<time.h>" nogil:
    struct timespec:
        int64_t tv_sec
        long tv_nsec
    int TIME_UTC
    int timespec_get(timespec* moment, int base)


cdef inline int64_t now_ms() noexcept:
    """Milliseconds since 1970."""
    cdef timespec moment
    timespec_get(&moment, TIME_UTC)
    return moment.tv_sec * 1000 + moment.tv_nsec // 1000000


cdef class Taken:
    """As plain.single.Taken."""

    cdef public int64_t bytes, records, max_bytes, max_records
    cdef public object waiters


cdef class Counted:
    """As plain.single.Counted."""

    cdef public int64_t accepted


cdef class Stay:
    """As plain.single.Stay."""

    cdef public int64_t current, left

    def __cinit__(self):
        self.current = -1


cdef class OpenBatch:
    """As plain.single.OpenBatch."""

    cdef Builder builder
    cdef SharedOutcome outcome
    cdef object queue
    cdef readonly int64_t spare
    cdef public bint open

    def __init__(self, Builder builder, SharedOutcome outcome, queue):
        self.builder, self.outcome, self.queue, self.open = builder, outcome, queue, True


cdef class OpenTopic:
    """As plain.single.OpenTopic."""

    cdef readonly object everyone
    cdef readonly dict open_batches
    cdef readonly int64_t version
    cdef public int64_t limit
    cdef int partitions
    cdef Stay stay

    def __init__(self, everyone, Stay stay, int64_t version):
        self.everyone, self.partitions, self.stay, self.version, self.open_batches = everyone, len(everyone), stay, version, {}


cdef class Intake:
    """As plain.single.Intake."""

    cdef public int64_t in_a_row
    cdef public bint free
    cdef object engine, version, check, close, renew
    cdef dict topics
    cdef Taken taken
    cdef Counted counted
    cdef int64_t largest, most

    def __init__(
        self, dict topics, Taken taken, Counted counted, engine, version, check, close, renew, int64_t largest,
        int64_t most
    ):
        self.topics, self.taken, self.counted, self.engine = topics, taken, counted, engine
        self.version, self.check, self.close, self.renew = version, check, close, renew
        self.largest, self.most = largest, most

    def take(self, topic, value, key, headers, partition, timestamp):
        """As plain.single.Intake.take."""
        cdef OpenTopic opened
        cdef PyObject* found = PyDict_GetItemWithError(self.topics, topic)
        if found == NULL or (headers is not NOTHING and (headers is None or headers)):
            return None
        opened = <OpenTopic> found
        if type(value) is not bytes or (key is not None and type(key) is not bytes):
            return None
        cdef int64_t stamp = 0
        cdef int overflow = 0
        if timestamp is not None:
            if type(timestamp) is not int:
                return None
            stamp = PyLong_AsLongLongAndOverflow(timestamp, &overflow)
            if overflow:
                return None
        if self.in_a_row >= AT_A_TIME or opened.version != <int64_t> self.version():
            return None
        if not self.free or self.engine.poison is not None:
            self.check()
        cdef Stay stay = None
        if partition is None and key is not None:
            partition = partition_of(key, opened.partitions)
        elif partition is None:
            stay = opened.stay
            if stay.left <= 0:
                return None
            partition = stay.current
        found = PyDict_GetItemWithError(opened.open_batches, partition)
        if found == NULL:
            return None
        cdef int64_t size = OVERHEAD + PyBytes_GET_SIZE(value) + (0 if key is None else PyBytes_GET_SIZE(key))
        cdef OpenBatch open_batch = <OpenBatch> found
        cdef Taken taken = self.taken
        cdef int64_t before = open_batch.builder.used - RESERVED if open_batch.open else 0
        if size > self.largest or before + size > opened.limit or taken.waiters:
            return None
        if taken.bytes + size > taken.max_bytes or taken.records >= taken.max_records:
            return None
        if not open_batch.open:
            open_batch = self.renew(topic, opened, open_batch.queue)
            if open_batch is None:
                return None
        if timestamp is None:
            stamp = now_ms()
        return self.append(opened, open_batch, stay, size, stamp, key, value)

    cdef Promise append(self, OpenTopic opened, OpenBatch open_batch, Stay stay, int64_t size, int64_t stamp, bytes key, bytes value):
        """A record of at most `size` bytes, for which there is room."""
        cdef Builder builder = open_batch.builder
        cdef Py_ssize_t before = builder.used, grown
        cdef Promise promise = Promise.__new__(Promise)
        PyObject_GC_UnTrack(<PyObject*> promise)
        builder.append(stamp, key, value)
        grown = builder.used - before
        self.taken.bytes += size
        self.taken.records += 1
        open_batch.spare += size - grown
        if stay is not None:
            stay.left -= grown
        self.in_a_row += 1
        self.counted.accepted += 1
        promise.outcome, promise.index, promise.timestamp = open_batch.outcome, builder.count - 1, stamp
        if builder.used - RESERVED >= opened.limit or builder.count >= self.most:
            self.close(open_batch.queue)
        return promise
