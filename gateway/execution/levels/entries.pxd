cimport cython

from gateway.execution.levels.request cimport Request
from gateway.execution.levels.tables cimport Column, Table


cdef class NewRows:
    cdef public object context
    cdef public list objs
    cdef public Table table
    cdef public Py_ssize_t first


cdef class NewValues:
    cdef public object context, rows, values
    cdef public Column column


@cython.locals(table=Table, entry=NewRows, count=Py_ssize_t, first=Py_ssize_t)
cpdef add_objects(Request run, Column column, selection, rows, objs)
