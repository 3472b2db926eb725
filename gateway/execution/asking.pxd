from gateway.execution.goals cimport Goal, WaitingLoad
from loaders.batches cimport Load

cpdef start(run, field, source, objs, place)
