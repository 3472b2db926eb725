cdef class Column:
    cdef public object base
    cdef public list indexes, tasks, values
    cdef public Py_ssize_t left

    cpdef set_apart(self, task)
    cpdef arrived(self, task, value)
    cpdef first_or_last(self)
