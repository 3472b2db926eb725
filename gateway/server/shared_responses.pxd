cdef class Sending:
    cdef readonly object is_closing, transport
    cdef list _kept
    cdef Py_ssize_t _size
    cdef object _call_soon, _lingers

    cpdef flush(self)
