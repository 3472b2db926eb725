cimport cython

cdef int _DEFINITION_END, _MORE_RESULTS, _END, _NULL, _TWO_BYTES, _THREE_BYTES, _ERROR


cdef class ResultSet:
    cdef readonly list names, rows
    cdef public int warnings
    cdef public bint more


cdef class Reader:
    cdef bytes data
    cdef const unsigned char *text
    cdef Py_ssize_t size, at
    cdef readonly Py_ssize_t end
    cdef readonly int number

    @cython.locals(columns=int, at=Py_ssize_t, names=list, types=list, of_columns=list, rows=list,
                   found=ResultSet)
    cpdef result_set(self, converters)
    @cython.locals(at=Py_ssize_t, size=Py_ssize_t)
    cdef bint next_packet(self) except -1
    @cython.locals(first=int)
    cdef bint is_end(self) except -1
    @cython.locals(place=int, size=Py_ssize_t)
    cdef int definition(self, list names, list types) except -1
    @cython.locals(size=Py_ssize_t, values=list)
    cdef list row(self, list converters)
    @cython.locals(size=Py_ssize_t)
    cdef Py_ssize_t string(self) except -2
