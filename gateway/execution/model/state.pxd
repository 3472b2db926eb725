cdef class State:
    cdef public bint cancelled, nulled, serial_chain, sliced
    cdef public list dropped, garbage, latest, loads, roots, streamed, unchecked
    cdef public object context, deferral, failures, loop, next_field_context, queue
    cdef public object resolver_context, root, variables, waits
    cdef public set waiting
    cdef public Py_ssize_t objects_made, objects_since_rest, slice

    cpdef count(self, Py_ssize_t made)
    cpdef hold_back(self, load)
    cpdef add_pending(self, column)
    cpdef remove_pending(self, column)
    cpdef alive(self, positions, i)
    cpdef has_values(self, waiting)
    cpdef restore_task(self)
