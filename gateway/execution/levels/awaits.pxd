cimport cython

from gateway.execution.levels.request cimport Request
from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column, Positions
from gateway.execution.model.value_classes cimport classes_of


@cython.locals(slot=Slot)
cpdef complete_values(Request run, Column column, rows, values, set classes=*)
