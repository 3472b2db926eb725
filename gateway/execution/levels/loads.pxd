cimport cython

from gateway.execution.levels.awaits cimport complete_values
from gateway.execution.model.state cimport State
from gateway.execution.levels.tables cimport Column, is_alive
from gateway.execution.levels.sources cimport Bulk
from gateway.execution.tasks.pending_column cimport PendingColumn
from gateway.execution.tasks.stepped_in_c cimport SteppedTask
from loaders.batches cimport Batch, Load


cdef class PendingLoad:
    cdef public Load load
    cdef object _resolver_context, _rows
    cdef Bulk _source
    cdef Column _column
    cdef State _run

    cpdef done(self)
    cpdef flush(self)


cdef class BulkCall(PendingColumn):
    cdef object _rows
    cdef Bulk _source
    cdef Column _column


cdef class PendingBatch(PendingColumn):
    cdef list _of

    @cython.locals(task=SteppedTask)
    cpdef first_step(self)
    @cython.locals(load=PendingLoad, waiting=set)
    cpdef notify_run(self)
