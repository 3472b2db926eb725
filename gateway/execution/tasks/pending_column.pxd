from gateway.execution.model.state cimport State
from gateway.execution.tasks.column cimport Column


cdef class PendingColumn(Column):
    cdef object _resolver_context, _apart, _positions, _then
    cdef State _run
    cdef bint _opened
    cdef Py_ssize_t _total

    cpdef first_or_last(self)
    cpdef set_apart(self, task)
    cpdef arrived(self, task, value)
    cdef _open_now(self)
    cdef _take(self)
