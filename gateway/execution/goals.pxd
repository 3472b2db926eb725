cimport cython

from gateway.execution.attempts cimport Asked, Attempt
from loaders.batches cimport Load


@cython.freelist(16)
cdef class Goal:
    cdef public Asked asked
    cdef public Attempt attempt
    cdef object _ambient, _field, _place, _run, _source
    cdef Py_ssize_t _count


cdef class WaitingLoad(Goal):
    cdef public Load load
