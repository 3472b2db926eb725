cimport cython

from gateway.execution.attempts cimport Attempt
from gateway.execution.state cimport State


cdef class Group:
    cdef public object objs, place, selection
    cdef public list out


@cython.locals(group=Group, attempt=Attempt)
cpdef make_group(State run, selection, objs, place)
