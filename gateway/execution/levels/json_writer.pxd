"""The memory of the compiled reader of leaves and writer of tables (see `json_writer.pyx`)."""

cimport cython
from cpython.object cimport PyObject

from gateway.execution.levels.layout cimport Layout
from gateway.execution.levels.text cimport Text
from gateway.execution.levels.tables cimport Column, Table


cdef struct Leaf:
    int kind
    bint nonnull
    int number  # of the column
    PyObject *name
    PyObject *shown
    Layout layout


cdef struct Key:  # the text before a field
    const char *text
    Py_ssize_t size


cdef struct Frame:  # of an object or a list that is being written
    PyObject *table
    PyObject *keys  # NULL: a list
    Py_ssize_t row, stop
    int field


@cython.final
cdef class LeafReader:
    cdef Leaf *leaves
    cdef int count
    cdef list held  # what the leaves point to

    cpdef list read(self, objs, Table table, Py_ssize_t first)
    cdef list read_into(self, PyObject ***columns, tuple owners, Py_ssize_t first)
    cdef int fetch(self, PyObject **owners, Py_ssize_t row, Py_ssize_t count) except -1


@cython.final
cdef class Keys:
    cdef readonly bytes last
    cdef list before  # what the texts point to
    cdef Key *texts
    cdef int count


@cython.final
cdef class TableWriter:
    cdef Text out
    cdef Frame *frames
    cdef int depth, room
    cdef Table root

    cpdef bint step(self, Py_ssize_t objects, Py_ssize_t size) except -1
    cpdef bytes take(self)
    cdef int put_column(self, PyObject *column, Py_ssize_t row) except -1
    cdef int push(self, Table table, Keys keys, Py_ssize_t row, Py_ssize_t stop) except -1
