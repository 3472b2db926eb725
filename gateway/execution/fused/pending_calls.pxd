from gateway.execution.fused.attempts cimport FieldFetch, Attempt
from gateway.execution.tasks.pending_column cimport PendingColumn


cdef class PendingCalls(PendingColumn):
    cdef Attempt _attempt
    cdef FieldFetch _fetch
    cdef list _taken, _taken_indexes
