from gateway.execution.levels.request cimport Request
from gateway.execution.levels.tables cimport Column, Typed
from gateway.execution.model.value_classes cimport classes_of


cdef class Slot(Typed):
    cpdef complete(self, Request run, Column column, rows, values, set classes=*)
    cpdef complete_present(self, Request run, Column column, rows, values)
