# What `send` returns: plain.promise, on fields of C.

cdef extern from "Python.h":
    object PyContext_CopyCurrent()
    int PyObject_GC_IsTracked(PyObject* of)
    void PyObject_GC_Track(PyObject* of)
    void PyObject_GC_UnTrack(PyObject* of)


cdef class SharedOutcome:
    """As plain.promise.SharedOutcome."""

    cdef readonly object at, loop, error
    cdef readonly bint settled
    cdef object own
    cdef list watched
    cdef int64_t base_offset, append_time, half
    cdef SharedOutcome first, second

    def __init__(self, at, loop):
        self.at, self.loop, self.base_offset, self.append_time = at, loop, -1, -1

    def keep(self, int64_t base_offset, int64_t append_time):
        """As plain.promise.SharedOutcome.keep."""
        self.base_offset, self.append_time = base_offset, append_time
        self.settle()

    def fail(self, error, own=None):
        """As plain.promise.SharedOutcome.fail."""
        self.error, self.own = error, own
        self.settle()

    def split(self, int64_t half, SharedOutcome first, SharedOutcome second):
        """As plain.promise.SharedOutcome.split."""
        cdef Promise promise
        self.half, self.first, self.second = half, first, second
        watched, self.watched = self.watched, None
        for promise in watched or ():
            promise.now().watch(promise)

    cdef void watch(self, Promise promise):
        if self.watched is None:
            self.watched = []
        self.watched.append(promise)

    cdef int settle(self) except -1:
        cdef Promise promise
        self.settled = True
        if self.watched is not None:
            watched, self.watched = self.watched, None
            for promise in watched:
                promise.tell()
        return 0


cdef class Promise:
    """As plain.promise.Promise. The collector, which would come by every few hundred records, need not look at it until
    it can be in a cycle: `tracked`.

    The price: the collector does not see that an untracked promise holds its outcome. Where a callback of another promise
    of the same batch leads to whoever holds the untracked one, that cycle stays until the batch is settled. The
    producer's close, the client's, and delivery.timeout settle it; only a loop that is stopped before all three keeps
    it. To see it earlier costs a list of promises for each batch, or a tracked object for each record."""

    cdef SharedOutcome outcome
    cdef list callbacks
    cdef object stored, message
    cdef int64_t index, timestamp
    cdef bint gone
    cdef public bint _asyncio_future_blocking
    cdef object __weakref__

    def __init__(self, SharedOutcome outcome, int64_t index, int64_t timestamp):
        self.outcome, self.index, self.timestamp = outcome, index, timestamp

    cdef void tracked(self):
        """A callback may name the promise, and so may the frames in the traceback of its error."""
        if not PyObject_GC_IsTracked(<PyObject*> self):
            PyObject_GC_Track(<PyObject*> self)

    cdef SharedOutcome now(self):
        cdef SharedOutcome outcome = self.outcome
        while outcome.first is not None:
            if self.index < outcome.half:
                outcome = outcome.first
            else:
                self.index -= outcome.half
                outcome = outcome.second
            self.outcome = outcome
        return outcome

    def done(self):
        """As plain.promise.Promise.done."""
        return self.gone or self.now().settled

    def cancelled(self):
        """As plain.promise.Promise.cancelled."""
        return self.gone

    def result(self):
        """As plain.promise.Promise.result."""
        cdef SharedOutcome outcome
        if self.stored is None:
            problem = self.exception()
            if problem is not None:
                raise problem.with_traceback(None)
            outcome = self.outcome
            self.stored = RecordMetadata(
                *outcome.at,
                outcome.base_offset + self.index if outcome.base_offset >= 0 else -1,
                outcome.append_time if outcome.append_time >= 0 else self.timestamp,
            )
        return self.stored

    def exception(self):
        """As plain.promise.Promise.exception."""
        cdef SharedOutcome outcome = self.now()
        if self.gone:
            raise self._make_cancelled_error()
        if not outcome.settled:
            from asyncio import InvalidStateError

            raise InvalidStateError("it is not yet known what became of the record")
        if outcome.error is not None:
            self.tracked()
        return outcome.error if not outcome.own else outcome.own.get(self.index, outcome.error)

    def add_done_callback(self, function, *, context=None):
        """As plain.promise.Promise.add_done_callback."""
        cdef SharedOutcome outcome = self.now()
        if context is None:
            context = PyContext_CopyCurrent()
        if self.gone or outcome.settled:
            outcome.loop.call_soon(function, self, context=context)
            return
        if self.callbacks is None:
            self.callbacks = []
            outcome.watch(self)
            self.tracked()
        self.callbacks.append((function, context))

    def remove_done_callback(self, function):
        """As plain.promise.Promise.remove_done_callback."""
        if self.callbacks is None:
            return 0
        before = len(self.callbacks)
        self.callbacks = [row for row in self.callbacks if row[0] != function]
        return before - len(self.callbacks)

    cdef int tell(self) except -1:
        callbacks, self.callbacks = self.callbacks, None
        if callbacks is not None:
            call_soon = self.outcome.loop.call_soon
            for function, context in callbacks:
                call_soon(function, self, context=context)
        return 0

    def cancel(self, msg=None):
        """As plain.promise.Promise.cancel."""
        if self.gone or self.now().settled:
            return False
        self.gone, self.message = True, msg
        self.tell()
        return True

    def get_loop(self):
        """As plain.promise.Promise.get_loop."""
        return self.outcome.loop

    def __await__(self):
        return Awaiting(self)

    def __iter__(self):
        return Awaiting(self)

    @property
    def _cancel_message(self):
        return self.message

    def _make_cancelled_error(self):
        from asyncio import CancelledError

        return CancelledError() if self.message is None else CancelledError(self.message)

    def __repr__(self):
        if not self.done():
            return "<Promise pending>"
        if self.gone:
            return "<Promise cancelled>"
        problem = self.exception()
        return f"<Promise {self.result() if problem is None else repr(problem)}>"


cdef class Awaiting:
    """A promise in `await`."""

    cdef Promise promise
    cdef bint begun

    def __cinit__(self, Promise promise):
        self.promise = promise

    def __iter__(self):
        return self

    def __next__(self):
        cdef Promise promise = self.promise
        if not promise.gone and not promise.now().settled:
            if self.begun:
                raise RuntimeError("a promise has to be awaited with `await`")
            self.begun = promise._asyncio_future_blocking = True
            return promise
        raise StopIteration(promise.result())
