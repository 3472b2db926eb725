cimport cython

from gateway.execution.goals cimport Goal, WaitingLoad
from gateway.execution.response cimport Response
from loaders.batches cimport Batch


cdef class Run(Response):
    cdef public bint in_line, sliced
    cdef public dict given
    cdef public list litter, loads
    cdef public object ambient, context, following, lone, loop
    cdef public object queue, root, variables, variant, waiting
    cdef public Py_ssize_t made, unrested
    cdef list _arrivals, _latest
    cdef object _again, _inputs, _task, _values, _waiter
    cdef Py_ssize_t _unwanted
    cdef double _since

    cdef Batch _alone(self)
    cpdef back(self)
    cpdef go_on(self)
    cpdef has_values(self, waiting)
    cdef _wake(self)
