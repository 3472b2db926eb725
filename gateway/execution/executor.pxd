from gateway.execution.tasks.deadlines cimport Deadlines


cdef class Result:
    cdef readonly list data, errors
    cdef public bint by_post_only
    cdef public object codes, cost, extensions, later, operation, retry_after, stream

    cpdef list parts(self)


cdef class Executor:
    cdef readonly object documents, max_cost, refusals
    cdef object _max_bytes
    cdef Deadlines _deadlines
