cdef class Operation:
    cdef readonly object name, query, variables


cdef Operation _operation(message)
