cdef class Column:
    cdef public object base
    cdef public list indexes, lights, values
    cdef public Py_ssize_t left

    cpdef set_apart(self, light)
    cpdef arrived(self, light, value)
    cpdef first_or_last(self)
