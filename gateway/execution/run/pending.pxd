cimport cython

from gateway.execution.model.state cimport State
from gateway.execution.run.sources cimport Bulk
from gateway.execution.tasks.stepped_in_c cimport SteppedTask
from gateway.execution.tasks.pending_column cimport PendingColumn
from loaders.batches cimport Batch, Load


cdef class FieldReceiver:
    cpdef arrived(self, fetch, values)
    cpdef wanted(self)


cdef class PendingField:
    cdef public object fetch
    cdef public FieldReceiver attempt
    cdef object _resolver_context, _field, _positions
    cdef Bulk _source
    cdef State _run
    cdef Py_ssize_t _count

    cdef _begin(self, State run, field, Bulk source, positions, Py_ssize_t count)


cdef class PendingLoad(PendingField):
    cdef public Load load

    cpdef done(self)
    cpdef flush(self)


cdef class PendingBulk(PendingColumn):
    cdef public PendingField pending


cdef class PendingBatch(PendingColumn):
    cdef list _of

    @cython.locals(task=SteppedTask)
    cpdef first_step(self)
    @cython.locals(load=PendingLoad, waiting=set)
    cpdef notify_run(self)
