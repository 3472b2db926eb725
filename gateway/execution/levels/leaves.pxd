from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column
from gateway.execution.model.state cimport State
from gateway.execution.model.value_classes cimport classes_of


cdef class LeafSlot(Slot):
    cdef readonly object type
    cdef object _coerce, _exact
    cdef bint _may_be_long
    cdef dict _names

    cpdef usual(self, values, set classes)
