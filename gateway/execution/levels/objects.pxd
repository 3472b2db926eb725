from gateway.execution.levels.entries cimport add_objects
from gateway.execution.levels.request cimport Request
from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column


cdef class CompositeSlot(Slot):
    cdef dict _selections


cdef class ObjectSlot(CompositeSlot):
    cdef readonly object type
    cdef object _selection
    cdef bint _any_class


cdef class AbstractSlot(CompositeSlot):
    cdef readonly object type
