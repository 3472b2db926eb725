cimport cython


cdef class Typed:
    cdef readonly object field
    cdef readonly int kind
    cdef readonly bint nonnull


cdef class Column:
    cdef public Typed slot
    cdef public Table table
    cdef public list below, values
    cdef public set dead
    cdef public int kind

    @cython.locals(table=Table)
    cpdef Table table_of(self, selection)
    cpdef Table add_table(self, Table table)
    @cython.locals(own=list, row=Py_ssize_t)
    cpdef put(self, rows, values)


cdef class Table:
    cdef public Column above
    cdef public object entry, keys, later, selection
    cdef public list columns, parents, starts
    cdef public Py_ssize_t count
    cdef public bint listed

    @cython.locals(column=Column, nulls=list, first=Py_ssize_t)
    cpdef Py_ssize_t add(self, Py_ssize_t count, parents) except -1
    cpdef Py_ssize_t parent(self, Py_ssize_t row) except -1


@cython.locals(column=Column)
cdef Column _column(Typed slot, Table table)


cdef class Positions:
    cdef public Column column
    cdef public object rows


@cython.locals(column=Column, each=Table, columns=list, below=list)
cpdef cut_loose(Table table)
cpdef bint is_alive(Column column, Py_ssize_t row) except -1
