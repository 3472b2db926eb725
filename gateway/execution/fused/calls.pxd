from gateway.execution.fused.attempts cimport Asked, Attempt
from gateway.execution.tasks.waiting cimport Waiting


cdef class WaitingCalls(Waiting):
    cdef Attempt _attempt
    cdef Asked _read
    cdef list _kept
    cdef bint _together

    cdef _take_back(self)
