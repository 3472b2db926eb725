from gateway.execution.model.state cimport State


cdef class Arguments:
    cdef object _constant, _convert, _field, _names
    cdef list _simple
    cdef readonly bint none

    cpdef dict of(self, State run)
