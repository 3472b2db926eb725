cimport cython

from gateway.execution.levels.loads cimport PendingBatch, PendingLoad
from gateway.execution.model.state cimport State
from gateway.execution.tasks.stepped_in_c cimport SteppedTask
from loaders.batches cimport Batch, Load


cdef class Waits:
    cdef public list arrivals
    cdef public set cancelled_tasks, unwanted
    cdef public object fatal, waiter

    cpdef has_values(self, waiting)
    cpdef wake(self)
    cpdef Batch only_batch(self, State run)
    @cython.locals(awaited=Load, batch=Batch, task=SteppedTask, others=Py_ssize_t, waiting=PendingBatch)
    cdef list _load_batches(self, State run, list loads)
