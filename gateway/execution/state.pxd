cdef class State:
    cdef public bint in_line, sliced
    cdef public dict given
    cdef public list litter, loads
    cdef public object ambient, context, following, lone, loop, queue, root, variables, variant
    cdef public set waiting
    cdef public Py_ssize_t made, unrested

    cpdef has_values(self, waiting)
