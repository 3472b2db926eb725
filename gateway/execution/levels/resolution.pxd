cimport cython

from gateway.execution.levels.awaits cimport complete_values
from gateway.execution.levels.json_writer cimport LeafReader
from gateway.execution.levels.loads cimport BulkCall, PendingLoad
from gateway.execution.model.state cimport State
from gateway.execution.levels.shapes cimport Fetch, Shape
from gateway.execution.levels.tables cimport Column, Positions, Table, rows_from
from gateway.execution.levels.sources cimport Bulk
from loaders.batches cimport Load


@cython.locals(shape=Shape, fetch=Fetch)
cpdef resolve(State run, Table table, Py_ssize_t first, objs)
@cython.locals(reader=LeafReader)
cdef _read_leaves(State run, Table table, Shape shape, Py_ssize_t first, objs)
@cython.locals(column=Column)
cdef _fetch(State run, Table table, Fetch fetch, rows, objs, leaves)
@cython.locals(source=Bulk, load=Load)
cdef _call_bulk(State run, Column column, Fetch fetch, rows, objs)
