from gateway.execution.model.state cimport State


cdef class Response(State):
    cdef public dict data
    cdef public list errors
    cdef public list left_out
    cdef public Py_ssize_t most_errors
    cdef list _failures
    cdef object _fatal

    cpdef place_root(self, dict made)
    cpdef fail(self, positions, Py_ssize_t i, error)
    cpdef bint write_failures(self, failures)
    cdef _path(self, positions, i)
    cpdef alive(self, positions, i)
    cdef bint _nullify(self, base, i)
