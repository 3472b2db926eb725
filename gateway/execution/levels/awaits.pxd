cimport cython

from gateway.execution.levels.slot cimport Slot
from gateway.execution.levels.tables cimport Column, Columns, Positions, Table, new_table
from gateway.execution.model.state cimport State
from gateway.execution.model.value_classes cimport classes_of


cdef class NewRows:
    cdef public object context
    cdef public list objs
    cdef public Table table
    cdef public Py_ssize_t first


cdef class NewValues:
    cdef public object context, rows, values
    cdef public Column column


@cython.locals(table=Table, entry=NewRows, count=Py_ssize_t, first=Py_ssize_t)
cpdef add_objects(State run, Column column, Columns shape, rows, objs)
@cython.locals(slot=Slot)
cpdef complete_values(State run, Column column, rows, values, set classes=*)
