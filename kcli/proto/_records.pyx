# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The compiled record core: the functions of `plain`, which say what they mean, on C pointers.

Every read is checked against the end of its record: the bytes come from the network. A walk that finds a broken
record ends with NULL, which becomes a DecodeError after `out` was cut back to what it was.
"""

cimport cython
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_GetItemWithError
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from cpython cimport array
from libc.math cimport fabs, frexp, isfinite, isnan, rint, signbit
from libc.stdint cimport INT64_MAX, INT64_MIN, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

import array as arrays

from kcli.errors import DecodeError, EncodeError
from kcli.proto.columns import Columns, Envelopes, Lines, Message, Record, RecordMetadata

cdef extern from "_crc32c.h" nogil:
    uint32_t kcli_crc32c(uint32_t crc, const uint8_t* data, size_t size)
    int kcli_first(uint64_t marks)
    int kcli_has(const uint8_t* at, size_t size, const uint8_t* what, size_t length)

cdef extern from "Python.h":
    char* PyOS_double_to_string(double number, char code, int digits, int flags, int* kind) except NULL
    double PyOS_string_to_double(const char* text, char** end, object overflow) except? -1.0
    void PyMem_Free(void* memory)

cdef extern from *:
    ctypedef struct AllocType "PyTypeObject":
        object (*tp_alloc)(PyTypeObject*, Py_ssize_t)

NAME = "compiled"

cdef enum:
    RESERVED = 61
    SMALLEST = 49
    OPS = 64
    SPREAD = 1024  # bytes that a batch is given at first, where rows go to many
    FEW_LINES = 1024  # lines that a batch may still take: of fewer it is told how much room they may want at most
    USUAL_LINE = 1024  # bytes of room for each of those

cdef int64_t LARGEST = 2147483647 - 2 * RESERVED
cdef int64_t LAST = INT64_MAX - 4294967295
cdef array.array INTS = arrays.array("i")
cdef array.array LONGS = arrays.array("q")
cdef object NOTHING = ()
cdef object TOKENS = frozenset("sSRkKTotph")


include "compiled/walk.pxi"
include "compiled/scan.pxi"
include "compiled/records.pxi"
include "compiled/gather.pxi"
include "compiled/values.pxi"
include "compiled/format.pxi"
include "compiled/json.pxi"
include "compiled/builder.pxi"
include "compiled/lines.pxi"
include "compiled/envelopes.pxi"
include "compiled/payloads.pxi"
include "compiled/avro_texts.pxi"
include "compiled/avro.pxi"
include "compiled/avro_columns.pxi"
include "compiled/protobuf.pxi"
include "compiled/protobuf_show.pxi"
include "compiled/replace.pxi"
include "compiled/seal.pxi"
include "compiled/frames.pxi"
include "compiled/promise.pxi"
include "compiled/single.pxi"
include "compiled/tally.pxi"
