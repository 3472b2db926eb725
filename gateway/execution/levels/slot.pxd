from gateway.execution.levels.request cimport Request
from gateway.execution.levels.tables cimport Column
from gateway.execution.model.value_classes cimport classes_of


cdef class Slot:
    cdef readonly object field
    cdef readonly int kind
    cdef readonly bint nonnull

    cpdef complete(self, Request run, Column column, rows, values, set classes=*)
    cpdef complete_present(self, Request run, Column column, rows, values)
