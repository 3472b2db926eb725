from gateway.execution.fused.attempts cimport FieldFetch, Attempt
from gateway.execution.tasks.pending_column cimport PendingColumn


cdef class PendingCalls(PendingColumn):
    cdef Attempt _attempt
    cdef FieldFetch _read
    cdef list _kept
    cdef bint _together

    cdef _take_back(self)
