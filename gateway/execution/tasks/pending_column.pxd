from gateway.execution.tasks.column cimport Column


cdef class PendingColumn(Column):
    cdef object _resolver_context, _changed_contexts, _positions, _then
    cdef bint _started
    cdef Py_ssize_t _total

    cpdef notify_run(self)
    cpdef keep_context(self, task)
    cpdef arrived(self, task, value)
    cdef _mark_started(self)
    cdef _take(self)
