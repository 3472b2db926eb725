cdef class Operation:
    cdef readonly object name, query, variables, wants_cost


cdef Operation _operation(message)
