cdef class Variables:
    cdef object _schema, _definitions
    cdef list _simple
    cdef dict _types

    cpdef tuple coerce(self, inputs)


cdef bint _fits(value, kind) except -1
