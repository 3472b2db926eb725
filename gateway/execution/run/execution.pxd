cimport cython

from gateway.execution.tasks.stepped_in_c cimport SteppedTask
from gateway.execution.run.pending cimport PendingField, PendingBatch, PendingLoad
from gateway.execution.run.response cimport Response
from loaders.batches cimport Batch, Load


cdef class Run(Response):
    cdef list _arrivals, _latest
    cdef tuple _done
    cdef object _again, _in_full, _steps, _task, _values, _waiter
    cdef Py_ssize_t _unwanted
    cdef double _since

    cdef Batch _alone(self)
    @cython.locals(awaited=Load, batch=Batch, task=SteppedTask, others=Py_ssize_t, waiting=PendingBatch)
    cdef list _ask(self, list loads, bint alone)
    cpdef back(self)
    cpdef go_on(self)
    cpdef has_values(self, waiting)
    cdef _wake(self)
