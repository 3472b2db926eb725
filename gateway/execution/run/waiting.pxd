cimport cython

from gateway.execution.run.pending cimport PendingBatch, PendingLoad
from gateway.execution.run.starting cimport Starting
from gateway.execution.tasks.stepped_in_c cimport SteppedTask
from loaders.batches cimport Batch, Load


cdef class Waiting(Starting):
    cdef list _arrivals
    cdef object _waiter
    cdef set _cancelled_tasks, _unwanted
    cdef double _since

    cpdef cancel_tasks(self)
    cdef Batch _only_batch(self)
    @cython.locals(awaited=Load, batch=Batch, task=SteppedTask, others=Py_ssize_t, waiting=PendingBatch)
    cdef list _load_batches(self, list loads)
    cpdef has_values(self, waiting)
    cdef _wake(self)
