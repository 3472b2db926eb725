cdef class Failures:
    cdef public list errors, left_out, new
    cdef public Py_ssize_t most
    cdef public bint root_nulled

    cpdef add(self, column, row, error)
