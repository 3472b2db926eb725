cdef class RequestParameters:
    cdef readonly object digest, id, name, query, variables, wants_cost


cpdef RequestParameters parameters_of(message)
