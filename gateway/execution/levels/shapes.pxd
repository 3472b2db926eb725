cdef class Fetch:
    cdef readonly object field, source, read
    cdef readonly Py_ssize_t number
    cdef readonly bint bulk


cdef class Shape:
    cdef object _selection, _make, _keys
    cdef readonly list slots, getters, leaves, fetches
    cdef readonly object reader
