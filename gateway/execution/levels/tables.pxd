cimport cython


cdef class Typed:
    cdef readonly object field
    cdef readonly int kind
    cdef readonly bint nonnull


cdef class Columns:
    cdef public object keys, place, selection
    cdef public list slots


cdef class Column:
    cdef public Typed slot
    cdef public Table table
    cdef public list below, values
    cdef public set dead
    cdef public int kind

    @cython.locals(table=Table)
    cpdef Table table_of(self, Columns shape)
    cpdef Table add_table(self, Table table)
    @cython.locals(own=list, row=Py_ssize_t)
    cpdef put(self, rows, values)
    @cython.locals(own=list, row=Py_ssize_t, start=Py_ssize_t, n=Py_ssize_t)
    cpdef put_numbers(self, rows, Py_ssize_t first)


cdef class Table:
    cdef public Column above
    cdef public object entry, later, selection
    cdef public Columns shape
    cdef public list columns, parents, starts
    cdef public Py_ssize_t count
    cdef public bint listed

    cpdef _begin(self, Columns shape, Column above, Py_ssize_t count, parents)
    @cython.locals(column=Column, nulls=list, first=Py_ssize_t)
    cpdef Py_ssize_t add(self, Py_ssize_t count, parents) except -1
    cpdef Py_ssize_t parent(self, Py_ssize_t row) except -1


@cython.locals(table=Table)
cpdef Table new_table(Columns shape, Column above, Py_ssize_t count, parents)
cpdef rows_from(Py_ssize_t first, Py_ssize_t count)
@cython.locals(column=Column)
cdef Column _column(Typed slot, Table table, Py_ssize_t count)


cdef class Positions:
    cdef public Column column
    cdef public object rows


@cython.locals(column=Column, each=Table, columns=list, below=list)
cpdef cut_loose(Table table)
cpdef bint is_alive(Column column, Py_ssize_t row) except -1
