from gateway.execution.fused.attempts cimport Asked, Attempt
from gateway.execution.tasks.pending_column cimport PendingColumn


cdef class PendingCalls(PendingColumn):
    cdef Attempt _attempt
    cdef Asked _read
    cdef list _kept
    cdef bint _together

    cdef _take_back(self)
