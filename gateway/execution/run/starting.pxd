from gateway.execution.run.response cimport Response


cdef class Starting(Response):
    cdef list _latest
    cdef object _task

    cpdef restore_task(self)
