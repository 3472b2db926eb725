from gateway.execution.levels.awaits cimport complete_values
from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column, Table
from gateway.execution.model.state cimport State
from gateway.execution.model.value_classes cimport classes_of


cdef class ListSlot(Slot):
    cdef readonly Slot item

    cdef _add_items(self, State run, Column column, rows, lists)


cdef class StreamedListSlot(ListSlot):
    cdef readonly object stream

    cdef _add_items(self, State run, Column column, rows, lists)
