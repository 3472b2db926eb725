from gateway.execution.run.arguments cimport Arguments
from gateway.execution.model.state cimport State


cdef class Attribute:
    cdef public object name
    cdef public bint keyed, placeless
    cdef public Arguments arguments
    cdef object _get
    cdef bint _plain

    cpdef list start(self, State run, field, objs, positions)


cdef class Call:
    cdef public bint placeless
    cdef object _expression, _function, _new_info
    cdef Arguments _arguments
    cdef bint _shared_info

    cpdef list start(self, State run, field, objs, positions)


cdef class Bulk:
    cdef readonly object function
    cdef readonly Arguments arguments
