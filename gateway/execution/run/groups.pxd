cimport cython

from gateway.execution.model.state cimport State


cdef class Group:
    cdef public object objs, positions, selection
    cdef public list out


@cython.locals(group=Group)
cpdef execute_group(State run, selection, objs, positions)
