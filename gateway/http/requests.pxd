cdef class RequestParameters:
    cdef readonly object name, query, variables, wants_cost


cdef RequestParameters _parameters(message)
