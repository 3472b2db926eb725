from gateway.execution.levels.awaits cimport add_objects
from gateway.execution.model.state cimport State
from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column, Columns


cdef class CompositeSlot(Slot):
    cdef dict _selections


cdef class ObjectSlot(CompositeSlot):
    cdef readonly object type
    cdef Columns _shape
    cdef set _classes
    cdef bint _any_class


cdef class AbstractSlot(CompositeSlot):
    cdef readonly object type
