"""The memory of JSON writers and of the leaves that they read (see `json_writer.pyx`)."""

cimport cython
from cpython.object cimport PyObject

from gateway.execution.fused.layout cimport Layout
from gateway.execution.fused.text cimport Text


cdef struct Column:
    PyObject **items  # NULL: it isn't there
    PyObject *leaves  # of a column of objects
    Py_ssize_t count
    Py_ssize_t next  # of a column of objects: the row of the one that is written next


cdef struct Field:
    int code
    int kind
    bint nonnull
    int number
    const char *before  # the text before it
    Py_ssize_t size
    PyObject *name
    PyObject *shown
    PyObject *writer
    Layout layout


@cython.final
@cython.freelist(16)
cdef class Leaves:
    cdef Text text
    cdef Py_ssize_t *ends  # of those texts, one after the other
    cdef PyObject **values  # row after row
    cdef int texts, fields  # of a row
    cdef Py_ssize_t rows, begun, read  # rows; texts and values so far
    cdef readonly bint usual  # whether all leaves could be written

    cpdef list columns(self)
    cdef int grow(self, Py_ssize_t rows) except -1
    cdef void keep(self, value) noexcept
    cdef void end(self) noexcept
    cdef int put(self, Text *out, Py_ssize_t text) except -1


@cython.final
cdef class JsonWriter:
    cdef int number  # the objects' column
    cdef int most  # the last column that is asked for
    cdef int count
    cdef int others  # fields that are not read from the objects
    cdef Field *fields
    cdef list held  # what the fields point to
    cdef bytearray text
    cdef bytes last
    cdef Py_ssize_t room  # for an object with all that is below it

    cpdef Leaves read(self, objs, Leaves leaves=*)
    cpdef list write(self, list columns)
    cdef Field *_add(self, int code, int number) except NULL
    cdef int _below(self, int code, JsonWriter writer, int number) except -1
    cdef int read_rows(self, Leaves leaves, PyObject **owners, Py_ssize_t count) except -1
    cdef int put(self, Text *out, Column *state) except -1
    cdef int fetch(self, PyObject **owners, Py_ssize_t row, Py_ssize_t count) except -1
