cimport cython

from gateway.execution.levels.awaits cimport complete_values
from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column, Columns, Table, rows_from
from gateway.execution.model.state cimport State
from gateway.execution.model.value_classes cimport classes_of


cdef class ListSlot(Slot):
    cdef readonly Slot item
    cdef readonly Columns columns

    @cython.locals(table=Table, first=Py_ssize_t, start=Py_ssize_t)
    cdef _add_items(self, State run, Column column, rows, lists)


cdef class StreamedListSlot(ListSlot):
    cdef readonly object stream

    cdef _add_items(self, State run, Column column, rows, lists)
