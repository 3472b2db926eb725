from gateway.execution.model.state cimport State


cdef class Column:
    cdef readonly State _run
    cdef public object base
    cdef public list indexes, tasks, values
    cdef public Py_ssize_t left

    cpdef keep_context(self, task)
    cpdef arrived(self, task, value)
    cpdef notify_run(self)
