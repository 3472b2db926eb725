from gateway.execution.levels.arguments cimport Arguments
from gateway.execution.model.state cimport State

cpdef list read(getters, objs)
cdef list read_one(get, objs)


cdef class Attribute:
    cdef public object get, name
    cdef public bint keyed
    cdef public Arguments arguments

    cpdef start(self, State run, field, objs, positions)
    cpdef called(self, State run, field, values, positions)


cdef class Call:
    cdef object _expression, _function, _new_info
    cdef Arguments _arguments
    cdef bint _shared_info

    cpdef list start(self, State run, field, objs, positions)


cdef class Bulk:
    cdef readonly object function
    cdef readonly Arguments arguments
