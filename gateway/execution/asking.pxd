from gateway.execution.bind cimport Bulk
from gateway.execution.goals cimport Goal, WaitingLoad
from gateway.execution.state cimport State
from loaders.batches cimport Load

cpdef start(State run, field, Bulk source, objs, place)
