cdef class RequestParameters:
    cdef readonly object digest, id, name, query, variables, wants_cost


cdef RequestParameters _parameters(message)
