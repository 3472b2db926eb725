cimport cython

from gateway.execution.driven cimport Steps
from gateway.execution.goals cimport Goal, WaitingLoad
from gateway.execution.response cimport Response
from gateway.execution.waiting cimport WaitingBatch
from loaders.batches cimport Batch, Load


cdef class Run(Response):
    cdef list _arrivals, _latest
    cdef tuple _done
    cdef object _again, _inputs, _task, _values, _waiter
    cdef Py_ssize_t _unwanted
    cdef double _since

    cdef Batch _alone(self)
    @cython.locals(awaited=Load, batch=Batch, light=Steps, others=Py_ssize_t, waiting=WaitingBatch)
    cdef list _ask(self, list loads, bint alone)
    cpdef back(self)
    cpdef go_on(self)
    cpdef has_values(self, waiting)
    cdef _wake(self)
