from gateway.execution.levels.execution cimport Run
from gateway.execution.compile.variables cimport Variables


cdef class Outcome:
    cdef readonly list errors, parts
    cdef readonly object left_out
    cdef readonly bint started
    cdef public object rest


cdef class Plan:
    cdef public object fallback, operation
    cdef public Variables variables
    cdef readonly int selections
    cdef readonly Py_ssize_t compiled
    cdef Py_ssize_t _most_errors
    cdef public object charge
    cdef object _aside, _document, _fell_back, _name, _schema, _variants
    cdef tuple _conditions

    cpdef _variant(self, variables, bint defer=*)
