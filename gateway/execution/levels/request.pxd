from gateway.execution.levels.failures cimport Failures
from gateway.execution.model.state cimport State


cdef class Request(State):
    cdef public Failures failures
    cdef public object waits
    cdef public list garbage, latest, roots
