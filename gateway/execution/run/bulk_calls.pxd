from gateway.execution.run.sources cimport Bulk
from gateway.execution.run.pending cimport PendingField, PendingLoad
from gateway.execution.model.state cimport State
from loaders.batches cimport Load

cpdef start(State run, field, Bulk source, objs, positions)
