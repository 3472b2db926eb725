from gateway.execution.levels.tables cimport Columns


cdef class Fetch:
    cdef readonly object field, source, read
    cdef readonly Py_ssize_t number
    cdef readonly bint bulk


cdef class Shape(Columns):
    cdef object _make
    cdef readonly list getters, leaves, fetches
    cdef readonly object failure, reader
