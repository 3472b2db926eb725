cimport cython

from gateway.execution.model.state cimport State
from gateway.execution.run.sources cimport Bulk
from gateway.execution.tasks.stepped_in_c cimport SteppedTask
from gateway.execution.tasks.waiting cimport Waiting
from loaders.batches cimport Batch, Load


cdef class Receiver:
    cpdef arrived(self, asked, values)
    cpdef wanted(self)


cdef class Goal:
    cdef public object asked
    cdef public Receiver attempt
    cdef object _ambient, _field, _place
    cdef Bulk _source
    cdef State _run
    cdef Py_ssize_t _count


cdef class WaitingLoad(Goal):
    cdef public Load load

    cpdef done(self)
    cpdef flush(self)


cdef class WaitingBulk(Waiting):
    cdef public Goal goal


cdef class WaitingBatch(Waiting):
    cdef list _of

    @cython.locals(task=SteppedTask)
    cpdef begin(self)
    @cython.locals(load=WaitingLoad, waiting=set)
    cpdef first_or_last(self)
