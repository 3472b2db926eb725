from gateway.execution.run.waiting cimport Waiting


cdef class Run(Waiting):
    cdef tuple _done
    cdef object _again, _in_full, _steps, _values
