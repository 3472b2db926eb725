cimport cython

from gateway.execution.levels.awaits cimport NewRows, NewValues
from gateway.execution.model.state cimport State
from gateway.execution.levels.resolution cimport resolve
from gateway.execution.levels.shapes cimport Fetch, Shape
from gateway.execution.levels.tables cimport Column, Positions, Table, cut_loose, is_alive, new_table, rows_from
from gateway.execution.levels.waits cimport Waits


cdef class Run(State):
    cdef object _again, _begun, _in_full, _steps, _task, _values
    cdef double _since
    cdef tuple _done

    @cython.locals(new=NewRows, table=Table, size=Py_ssize_t, count=Py_ssize_t)
    cpdef _work_off(self)
    @cython.locals(waits=Waits)
    cpdef has_values(self, waiting)
    @cython.locals(table=Table, shape=Shape, fetch=Fetch, column=Column)
    cpdef _begin_step(self, step)
    cpdef restore_task(self)
    cpdef write_small(self, Py_ssize_t most=*)
    @cython.locals(at=Positions)
    cpdef alive(self, positions, i)
