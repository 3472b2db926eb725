from gateway.execution.deadlines cimport Deadlines


cdef class Result:
    cdef readonly list data, errors
    cdef readonly bint by_post_only
    cdef public object cost, extensions

    cpdef list parts(self)


cdef class Executor:
    cdef readonly object documents, max_cost, refusals
    cdef Deadlines _deadlines
