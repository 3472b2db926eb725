cimport cython

from gateway.execution.model.state cimport State


cdef class Group:
    cdef public object objs, positions, selection
    cdef public list leaves, out


cpdef execute_group(State run, selection, objs, positions)
cpdef read_leaves(State run, Group group)
cpdef make_objects(State run, Group group, bint bulk)
