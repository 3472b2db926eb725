from gateway.execution.model.state cimport State
from gateway.execution.levels.tables cimport Column, Typed
from gateway.execution.model.value_classes cimport classes_of


cdef class Slot(Typed):
    cpdef complete(self, State run, Column column, rows, values, set classes=*)
    cpdef complete_present(self, State run, Column column, rows, values)
