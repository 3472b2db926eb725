cimport cython

from gateway.execution.levels.awaits cimport complete_values
from gateway.execution.levels.loads cimport BulkCall, PendingLoad
from gateway.execution.levels.request cimport Request
from gateway.execution.levels.shapes cimport Fetch, Shape
from gateway.execution.levels.tables cimport Column, Positions, Table
from gateway.execution.run.sources cimport Bulk
from loaders.batches cimport Load


@cython.locals(shape=Shape, fetch=Fetch)
cpdef resolve(Request run, Table table, Py_ssize_t first, objs)
cdef _read_leaves(Request run, Table table, Shape shape, rows, objs)
@cython.locals(column=Column)
cdef _fetch(Request run, Table table, Fetch fetch, rows, objs, leaves)
@cython.locals(source=Bulk, load=Load)
cdef _call_bulk(Request run, Column column, Fetch fetch, rows, objs)
