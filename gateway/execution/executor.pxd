from gateway.execution.deadlines cimport Deadlines


cdef class Result:
    cdef readonly list data, errors
    cdef readonly bint by_post_only

    cpdef list parts(self)


cdef class Executor:
    cdef readonly object documents
    cdef Deadlines _deadlines
