cdef class State:
    cdef public bint cancelled, nulled, serial_chain, sliced
    cdef public dict resolved
    cdef public list deferred_free, dropped, loads, unchecked
    cdef public object helpers, resolver_context, context, next_field_context, loop, queue, root, variables
    cdef public set waiting
    cdef public Py_ssize_t characters, objects_made, objects_since_rest

    cpdef complete_later(self, what, values, positions)
    cpdef count(self, Py_ssize_t made)
    cpdef hold_back(self, load)
    cpdef add_pending(self, column)
    cpdef remove_pending(self, column)
    cpdef fail(self, positions, Py_ssize_t i, error)
    cpdef alive(self, positions, i)
    cpdef place_root(self, dict made)
    cpdef has_values(self, waiting)
    cpdef restore_task(self)
