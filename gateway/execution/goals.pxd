from gateway.execution.attempts cimport Asked, Attempt
from gateway.execution.bind cimport Bulk
from gateway.execution.state cimport State
from loaders.batches cimport Load


cdef class Goal:
    cdef public Asked asked
    cdef public Attempt attempt
    cdef object _ambient, _field, _place
    cdef Bulk _source
    cdef State _run
    cdef Py_ssize_t _count


cdef class WaitingLoad(Goal):
    cdef public Load load

    cpdef done(self)
    cpdef flush(self)
