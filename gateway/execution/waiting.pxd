cimport cython

from gateway.execution.attempts cimport Attempt
from gateway.execution.column cimport Column
from gateway.execution.driven cimport Steps
from gateway.execution.goals cimport Goal, WaitingLoad
from gateway.execution.parts cimport Read
from gateway.execution.state cimport State
from loaders.batches cimport Batch, Load


cdef class Waiting(Column):
    cdef object _ambient, _apart, _place, _then
    cdef State _run
    cdef bint _opened
    cdef Py_ssize_t _total

    cpdef first_or_last(self)
    cpdef set_apart(self, light)
    cpdef arrived(self, light, value)
    cdef _open_now(self)
    cdef _take(self)


cdef class WaitingBulk(Waiting):
    cdef public Goal goal


cdef class WaitingCalls(Waiting):
    cdef Attempt _attempt
    cdef Read _read
    cdef list _kept
    cdef bint _together

    cdef _take_back(self)


cdef class WaitingBatch(Waiting):
    cdef list _of

    @cython.locals(light=Steps)
    cpdef begin(self)
    @cython.locals(load=WaitingLoad, waiting=set)
    cpdef first_or_last(self)
